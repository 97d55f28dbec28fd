/** The pool families in which attacks are played, one line each. */
import type { DeploymentPlan } from '../local/plan.ts'

export type PoolTerms = { readonly feePpm: number; readonly tickSpacing: number }

export type PoolFamily = 'v2' | 'v3' | 'pancake' | 'algebra' | 'v4'

type Family = {
  /** Its name in the configuration. */
  readonly name: DeploymentPlan['family']
  readonly title: string
  /** The contracts that may hold or create its pools on one chain. */
  readonly factories: readonly ('a' | 'b')[]
  /** Of a pool with ticks for which an attack wants this fee; null for pairs. */
  readonly termsOf: ((feePpm: number) => PoolTerms) | null
}

const TWO = ['a', 'b'] as const
const SPACINGS: Readonly<Record<number, number>> = { 500: 10, 3000: 60, 10_000: 200 }
const usual = (feePpm: number): PoolTerms => ({ feePpm, tickSpacing: SPACINGS[feePpm] as number })

export const POOL_FAMILIES: Readonly<Record<PoolFamily, Family>> = {
  v2: { name: 'amm_v2', title: 'pairs', factories: TWO, termsOf: null },
  v3: { name: 'amm_v3', title: 'Uniswap v3', factories: TWO, termsOf: usual },
  pancake: {
    name: 'amm_v3_pancake',
    title: 'PancakeSwap v3',
    factories: TWO,
    // It has a tier of 0.25% where Uniswap has one of 0.3%.
    termsOf: feePpm => (feePpm === 3000 ? { feePpm: 2500, tickSpacing: 50 } : usual(feePpm)),
  },
  // One pool for each pair of tokens, whose fee moves with the market from here.
  algebra: {
    name: 'amm_algebra_v1',
    title: 'Algebra v1',
    factories: TWO,
    termsOf: () => ({ feePpm: 100, tickSpacing: 60 }),
  },
  // A second manager would give its pools the ids that the first has given.
  v4: { name: 'amm_v4', title: 'Uniswap v4', factories: ['a'], termsOf: usual },
}
