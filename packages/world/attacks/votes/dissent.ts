/** The attacker has nearly all of the weight, and one honest pool disagrees. */
import type { Attack } from '../attack.ts'

export const dissent: Attack = {
  name: 'T8b one honest voice',
  about:
    "the attacker's aged pools of two factories carry 95% of the weight at 1.5; an honest pool of 5% says 1",
  on: 'engine',
  wanted: { atMost: 4 },
  async play(stage) {
    stage.token('T')
    await stage.pool('left', { of: 'T', price: 1.5, depth: 47_500 })
    await stage.pool('right', { of: 'T', price: 1.5, depth: 47_500, factory: 'b' })
    await stage.pool('honest', { of: 'T', depth: 5_000, family: 'v3' })
    await stage.ask('T')
    await stage.quiet(3900)
    await stage.look('T', { usd: 1 })
  },
}
