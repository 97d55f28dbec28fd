/** Many pools of one factory that agree: one deployment is one source. */
import type { Attack } from '../attack.ts'

export const sybils: Attack = {
  name: 'sybil pools of one factory',
  about: 'three fee tiers and two quote tokens of one factory at 1.5, against honest pools of equal weight',
  on: 'engine',
  wanted: { atMost: 4 },
  async play(stage) {
    stage.token('T')
    await stage.pool('honest', { of: 'T', depth: 20_000 })
    await stage.pool('honest 2', { of: 'T', depth: 20_000, factory: 'b' })
    for (const feePpm of [500, 3000, 10_000])
      for (const quote of ['USDC', 'USDT'])
        await stage.pool(`${feePpm} ${quote}`, {
          of: 'T',
          with: quote,
          price: 1.5,
          depth: 8_000,
          family: 'v3',
          feePpm,
        })
    await stage.ask('T')
    await stage.quiet(900)
    await stage.look('T', { usd: 1 })
  },
}
