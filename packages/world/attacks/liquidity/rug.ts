/** All liquidity is removed at an unchanged price. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const rug: Attack = {
  name: 'rug',
  about: 'all liquidity of a token leaves in one block, at an unchanged price',
  on: 'both',
  wanted: { state: 'UNPRICED' },
  async play(stage) {
    await settle(stage, 600, { one: { depth: 30_000, family: 'v3' }, two: { depth: 30_000 } })
    stage.drain('one', 0.9999)
    stage.drain('two', 0.9999)
    await stage.block()
    await stage.look('T')
  },
}
