/** Prices from 1e-20 to 1e12 dollars. */
import type { Attack } from '../attack.ts'

/** A pair holds at most 2^112 units per side, so a token worth next to nothing has fewer decimals. */
const PRICES = [
  { usd: 1e-20, decimals: 6 },
  { usd: 1e-12, decimals: 12 },
  { usd: 1e-6, decimals: 18 },
  { usd: 1e6, decimals: 18 },
  { usd: 1e12, decimals: 18 },
] as const

export const extremePrices: readonly Attack[] = PRICES.map(({ usd, decimals }) => ({
  name: `a price of ${usd.toExponential()}`,
  about: 'two pools of 20,000 of two factories',
  on: 'engine',
  wanted: { state: 'PRICED', within: 0.005, atLeast: 5 },
  async play(stage) {
    stage.token('T', { usd, decimals })
    await stage.pool('one', { of: 'T', depth: 20_000 })
    await stage.pool('two', { of: 'T', depth: 20_000, factory: 'b' })
    await stage.ask('T')
    await stage.quiet(900)
    await stage.look('T', { usd })
  },
}))
