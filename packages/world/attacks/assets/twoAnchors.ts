/** One of two pools of the routing asset is pushed. */
import type { Attack } from '../attack.ts'

export const twoAnchors: Attack = {
  name: 'one of two anchors pushed',
  about: 'WETH has two pools of equal depth; one is pushed by 40% and held five minutes',
  on: 'engine',
  wanted: { atMost: 4 },
  async play(stage) {
    stage.token('T')
    await stage.anchors(50_000)
    await stage.pool('one', { of: 'T', with: 'WETH', depth: 20_000 })
    await stage.ask('T')
    await stage.quiet(900)
    stage.push('WETH-b', 2_800)
    await stage.block()
    await stage.look('T')
    await stage.quiet(300, 12)
    await stage.look('T')
  },
}
