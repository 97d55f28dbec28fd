/** All liquidity is removed at an unchanged price. */
import type { Attack } from '../attack.ts'

export const rug: Attack = {
  name: 'rug',
  about: 'all liquidity of a token leaves in one block, at an unchanged price',
  on: 'both',
  wanted: { state: 'UNPRICED' },
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 30_000, family: 'v3' })
    await stage.pool('two', { of: 'T', depth: 30_000 })
    await stage.ask('T')
    await stage.quiet(600)
    stage.drain('one', 0.9999)
    stage.drain('two', 0.9999)
    await stage.block()
    await stage.look('T')
  },
}
