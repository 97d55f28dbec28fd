/** One owner's liquidity in three fee tiers agrees with itself, and nobody can sell into it. */
import type { Attack } from '../attack.ts'

export const ownersTiers: Attack = {
  name: 'T9c liquidity of one owner',
  about: "three fee tiers of a token that only its owner can sell, 100,000 deep each, all of it the owner's",
  on: 'both',
  against: 'seller',
  wanted: { atMost: 1, code: 'UNSELLABLE' },
  async play(stage) {
    stage.token('T', { sellTaxBps: null })
    for (const feePpm of [500, 3000, 10_000])
      await stage.pool(`of ${feePpm}`, { of: 'T', depth: 100_000, family: 'v3', feePpm })
    await stage.anchors(200_000)
    await stage.ask('T')
    await stage.quiet(3600)
    await stage.look('T')
  },
}
