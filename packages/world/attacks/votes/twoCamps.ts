/** Two camps of equal weight at two prices. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const twoCamps: Attack = {
  name: 'two camps',
  about: 'four aged pools, two at 1 and two at 1.4, each pair of two factories and of equal weight',
  on: 'engine',
  wanted: { atMost: 3 },
  async play(stage) {
    await settle(stage, 900, {
      one: { depth: 20_000 },
      two: { depth: 20_000, factory: 'b' },
      three: { price: 1.4, depth: 20_000, family: 'v3' },
      four: { price: 1.4, depth: 20_000, family: 'v3', factory: 'b' },
    })
    await stage.look('T', { usd: 1 })
  },
}
