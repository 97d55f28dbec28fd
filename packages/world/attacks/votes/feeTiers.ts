/** All fee tiers of one factory are pushed together. */
import type { Attack } from '../attack.ts'

export const feeTiers: Attack = {
  name: 'fee-tier sybils pushed',
  about:
    'three fee tiers of one factory, the only pools of the token, are pushed to 1.6 and held five minutes',
  on: 'engine',
  wanted: {},
  async play(stage) {
    stage.token('T')
    const tiers = [500, 3000, 10_000]
    for (const feePpm of tiers)
      await stage.pool(`${feePpm}`, { of: 'T', depth: 15_000, family: 'v3', feePpm })
    await stage.ask('T')
    await stage.quiet(3900)
    for (const feePpm of tiers) stage.push(`${feePpm}`, 1.6)
    await stage.block()
    await stage.look('T')
    await stage.quiet(300, 12)
    await stage.look('T')
  },
}
