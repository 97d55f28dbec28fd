/** Sixty dollars added to and removed from a stray pool at a floor of the vote. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

/** With 20,000 and the pool itself as the total: 2, 5 and 10% are 408, 1,053 and 2,222. */
const DEPTHS = [395, 1_040, 2_210] as const

export const strayInAndOut: readonly Attack[] = DEPTHS.map((depth, at) => ({
  name: `T8 60 dollars in and out at ${[2, 5, 10][at]}%`,
  about: `a stray pool of ${depth} at 1.05 beside 20,000, and 60 dollars of depth in and out for 150 blocks`,
  on: 'engine',
  wanted: { state: 'PRICED', within: 0.01, changes: 2 },
  async play(stage) {
    await settle(stage, 3900, { deep: { depth: 20_000 }, stray: { price: 1.05, depth, factory: 'b' } })
    stage.watch('T')
    for (let n = 0; n < 75; n++) {
      const guest = stage.add('stray', 60)
      await stage.block()
      await stage.look('T')
      stage.remove(guest)
      await stage.block()
      await stage.look('T')
    }
  },
}))
