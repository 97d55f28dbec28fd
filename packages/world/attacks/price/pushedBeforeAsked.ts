/** An old pool is pushed, and then its token is first requested. */
import type { Attack } from '../attack.ts'

export const pushedBeforeAsked: Attack = {
  name: 'T3 pushed before asked',
  about: 'an old pool is pushed to 3 for one block, and its token is first requested in the next',
  on: 'chain',
  wanted: { atMost: 3 },
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 3_000 })
    await stage.quiet(1500)
    stage.push('one', 3)
    await stage.block()
    await stage.ask('T')
    await stage.look('T', { usd: 1 })
  },
}
