/** A deep pair of an unlisted factory, and a contract that claims to belong to a listed one. */
import type { Attack } from '../attack.ts'

export const lookAlike: Attack = {
  name: 'look-alike pools',
  about:
    'a pair of 1,000,000 at 5 of an unlisted factory, and a contract that names a listed one, beside 3,000',
  on: 'chain',
  wanted: { state: 'PRICED', within: 0.01 },
  async play(stage) {
    stage.token('T')
    await stage.pool('honest', { of: 'T', depth: 3_000 })
    await stage.impostors('T', 5, 1_000_000)
    await stage.ask('T')
    await stage.quiet(360)
    await stage.look('T')
  },
}
