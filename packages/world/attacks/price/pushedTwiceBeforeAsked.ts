/** The same in pools of two factories, so that they agree with each other. */
import type { Attack } from '../attack.ts'

export const pushedTwiceBeforeAsked: Attack = {
  name: 'T3 two pushed before asked',
  about:
    'old pools of two factories are pushed to 50 for one block, and their token is first requested in the next',
  on: 'chain',
  wanted: { atMost: 3 },
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 3_000 })
    await stage.pool('two', { of: 'T', depth: 3_000, factory: 'b' })
    await stage.quiet(1500)
    for (const pool of ['one', 'two']) stage.push(pool, 50)
    await stage.block()
    await stage.ask('T')
    await stage.look('T', { usd: 1 })
  },
}
