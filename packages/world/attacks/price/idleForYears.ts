/** A pool unused for three years, whose token is requested now. */
import type { Attack } from '../attack.ts'

export const idleForYears: Attack = {
  name: 'T2 idle for three years',
  about: 'the last trade was three years ago; the first answer must say so',
  on: 'chain',
  wanted: { atMost: 6, code: 'NO_RECENT_TRADE' },
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 50_000 })
    await stage.pool('two', { of: 'T', depth: 50_000, factory: 'b' })
    await stage.block(3 * 365 * 86_400)
    await stage.ask('T')
    await stage.look('T')
  },
}
