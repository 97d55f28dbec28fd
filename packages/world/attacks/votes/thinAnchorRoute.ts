/** A thin pool of the routing asset is pushed: tokens that route through it must not follow. */
import type { Attack } from '../attack.ts'

export const thinAnchorRoute: Attack = {
  name: 'T18 thin anchor',
  about: 'a token of 2,000 in WETH; the deep WETH pool says 2,000 dollars, a thin one 2% less',
  on: 'engine',
  wanted: { state: 'PRICED', within: 0.03 },
  async play(stage) {
    stage.token('T')
    await stage.anchors(100_000, 1)
    await stage.pool('thin', { of: 'WETH', depth: 15_000, price: 1_960, factory: 'b' })
    await stage.pool('one', { of: 'T', with: 'WETH', depth: 2_000 })
    await stage.ask('T')
    await stage.quiet(900)
    await stage.look('T')
  },
}
