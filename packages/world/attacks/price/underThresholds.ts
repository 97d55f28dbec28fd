/** Pumps just below each threshold of the token's own past, held until everything except the hour accepts them. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

const STEPS = [1.049, 1.195, 1.495, 1.99] as const

export const underThresholds: readonly Attack[] = STEPS.map(usd => ({
  name: `pump to ${usd}`,
  about: `pools of two factories are held at ${usd} for 25 minutes`,
  on: 'engine',
  wanted: {},
  async play(stage) {
    await settle(stage, 3900, { one: { depth: 20_000 }, two: { depth: 20_000, factory: 'b' } })
    for (const pool of ['one', 'two']) stage.push(pool, usd)
    await stage.block()
    for (let n = 0; n < 25; n++) {
      await stage.look('T')
      await stage.quiet(60, 12)
    }
  },
}))
