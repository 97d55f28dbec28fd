/** Honest tokens with few decimals: they are not too coarse to be priced. */
import type { Attack } from '../attack.ts'

const TOKENS = [
  { decimals: 0, usd: 1_000, depth: 1_000_000, about: '0 decimals at 1,000 dollars' },
  { decimals: 2, usd: 1, depth: 90, about: '2 decimals at a dollar' },
] as const

export const coarse: readonly Attack[] = TOKENS.map(({ decimals, usd, depth, about }) => ({
  name: `T17 ${about}`,
  about: `two pools of ${depth} of two factories`,
  on: 'engine',
  wanted: { state: 'PRICED', within: 0.01 },
  async play(stage) {
    stage.token('T', { decimals, usd })
    await stage.pool('one', { of: 'T', depth })
    await stage.pool('two', { of: 'T', depth, factory: 'b' })
    await stage.ask('T')
    await stage.quiet(900)
    await stage.look('T', { usd })
  },
}))
