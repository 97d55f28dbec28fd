/** A push that is held before the token is first requested, so that the look-back finds it held. */
import type { Attack } from '../attack.ts'

const CASES = [
  { forS: 240 },
  {
    forS: 1800,
    open: 'not covered: a push held for more than half of the 35 minutes that a look-back sees is its median',
  },
] as const

export const heldBeforeAsked: readonly Attack[] = CASES.map(({ forS, ...mark }) => ({
  name: `held ${forS / 60} minutes before asked`,
  about: `an old pool of 20,000 is at 3 for ${forS / 60} minutes, and then its token is first requested`,
  on: 'chain',
  wanted: { atMost: 3 },
  ...mark,
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 20_000 })
    await stage.quiet(300)
    stage.push('one', 3)
    await stage.block()
    await stage.quiet(forS)
    await stage.ask('T')
    await stage.look('T', { usd: 1 })
  },
}))
