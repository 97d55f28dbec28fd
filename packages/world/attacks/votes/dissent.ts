/** The attacker has nearly all of the weight, and one honest pool disagrees. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const dissent: Attack = {
  name: 'T8b one honest voice',
  about:
    "the attacker's aged pools of two factories carry 95% of the weight at 1.5; an honest pool of 5% says 1",
  on: 'engine',
  wanted: { atMost: 4 },
  async play(stage) {
    await settle(stage, 3900, {
      left: { price: 1.5, depth: 47_500 },
      right: { price: 1.5, depth: 47_500, factory: 'b' },
      honest: { depth: 5_000, family: 'v3' },
    })
    await stage.look('T', { usd: 1 })
  },
}
