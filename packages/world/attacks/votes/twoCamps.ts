/** Two camps of equal weight at two prices. */
import type { Attack } from '../attack.ts'

export const twoCamps: Attack = {
  name: 'two camps',
  about: 'four aged pools, two at 1 and two at 1.4, each pair of two factories and of equal weight',
  on: 'engine',
  wanted: { atMost: 3 },
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 20_000 })
    await stage.pool('two', { of: 'T', depth: 20_000, factory: 'b' })
    await stage.pool('three', { of: 'T', price: 1.4, depth: 20_000, family: 'v3' })
    await stage.pool('four', { of: 'T', price: 1.4, depth: 20_000, family: 'v3', factory: 'b' })
    await stage.ask('T')
    await stage.quiet(900)
    await stage.look('T', { usd: 1 })
  },
}
