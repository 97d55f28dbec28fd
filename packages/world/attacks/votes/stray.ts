/** A small pool off the price: it must not lower a score, and it must not make it flicker. */
import type { Attack } from '../attack.ts'

const CASES = [
  { percent: 2.6, usd: 1.02 },
  { percent: 5, usd: 1.1 },
  { percent: 9, usd: 0.9 },
] as const

export const stray: readonly Attack[] = CASES.map(({ percent, usd }) => ({
  name: `T8 stray pool of ${percent}% at ${usd}`,
  about: 'a pool off the price grows beside a deep one for an hour: no change of the score',
  on: 'engine',
  wanted: { state: 'PRICED', within: 0.005, changes: 0 },
  ...(percent > 3 ? { open: 'floor of observations and DISSENT' } : {}),
  async play(stage) {
    stage.token('T')
    await stage.pool('deep', { of: 'T', depth: 60_000 })
    await stage.pool('stray', { of: 'T', price: usd, depth: 1, factory: 'b' })
    await stage.ask('T')
    await stage.quiet(3900)
    stage.watch('T')
    stage.add('stray', (60_000 * percent) / (100 - percent))
    await stage.block()
    for (let n = 0; n < 60; n++) {
      await stage.quiet(60)
      await stage.look('T')
    }
  },
}))
