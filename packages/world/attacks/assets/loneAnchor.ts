/** The only pool of the routing asset is pushed, and every token behind it moves. */
import type { Attack } from '../attack.ts'

export const loneAnchor: Attack = {
  name: 'T15 lone anchor pushed',
  about: 'the only WETH pool is pushed by 30% and held; a token priced in WETH must not score above 3',
  on: 'engine',
  wanted: { atMost: 3 },
  async play(stage) {
    stage.token('T')
    await stage.anchors(20_000, 1)
    await stage.pool('one', { of: 'T', with: 'WETH', depth: 20_000 })
    await stage.pool('two', { of: 'T', with: 'WETH', depth: 20_000, factory: 'b' })
    await stage.ask('T')
    await stage.quiet(3900)
    stage.push('WETH-a', 2_600)
    await stage.block()
    await stage.quiet(156, 12)
    await stage.look('T')
    await stage.quiet(300, 12)
    await stage.look('T')
  },
}
