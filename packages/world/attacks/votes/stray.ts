/** A small pool away from the price: it must neither lower the score nor make it flicker. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

const DISSENTING =
  'not covered: a pool left out with 2% of the weight, more than 10% from the published price, caps at 4 by R-dissent-1'
const CASES: readonly { percent: number; usd: number; open?: string }[] = [
  { percent: 2.6, usd: 1.02 },
  // Just within a tenth of the published price, which is 0.997 after the fee.
  { percent: 5, usd: 1.096 },
  { percent: 9, usd: 0.907 },
  { percent: 5, usd: 1.1, open: DISSENTING },
  { percent: 9, usd: 0.9, open: DISSENTING },
]

export const stray: readonly Attack[] = CASES.map(({ percent, usd, ...mark }) => ({
  name: `T8 stray pool of ${percent}% at ${usd}`,
  about: 'a pool off the price grows beside a deep one for an hour: no change of the score',
  on: 'engine',
  wanted: { state: 'PRICED', within: 0.005, changes: 0 },
  ...mark,
  async play(stage) {
    await settle(stage, 3900, {
      deep: { depth: 60_000 },
      stray: { price: usd, depth: 1, factory: 'b' },
    })
    stage.watch('T')
    stage.add('stray', (60_000 * percent) / (100 - percent))
    await stage.block()
    for (let n = 0; n < 60; n++) {
      await stage.quiet(60)
      await stage.look('T')
    }
  },
}))
