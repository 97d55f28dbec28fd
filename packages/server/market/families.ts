/** The pool families of the market: one line each. */
import type { Family } from '@assay/engine'
import type { Hex } from '../ops/config.ts'
import type { MarketFamily } from './family.ts'
import { algebra } from './algebra/algebra.ts'
import { pancake } from './pancake/pancake.ts'
import { v2 } from './v2/v2.ts'
import { v3 } from './v3/v3.ts'
import { v4 } from './v4/v4.ts'

const MARKETS: { readonly [F in Family]: MarketFamily<F> } = {
  amm_v2: v2,
  amm_v3: v3,
  amm_v3_pancake: pancake,
  amm_algebra_v1: algebra,
  amm_v4: v4,
}

const ALL = Object.values(MARKETS)

/** Deployment and pool must be of the family; a pool's always are, as its deployment names it. */
export const marketOf = (family: Family): MarketFamily<Family> => MARKETS[family] as MarketFamily<Family>

/** Whether one contract holds all pools of a deployment and logs for them; its second topic says for which. */
export const isHeldByOne = (family: Family): boolean => marketOf(family).logs.size === 0

/** Of every log that a pool or a factory writes. */
export const POOL_TOPICS: readonly Hex[] = [
  ...new Set(ALL.flatMap(({ signatures }) => Object.keys(signatures) as Hex[])),
]
/** Of those that tell of a new pool. */
export const CREATION_TOPICS: readonly Hex[] = [...new Set(ALL.flatMap(({ creations }) => creations))]

/** The reader of a log by its topic alone, for a pool whose family nobody noted: equal topics are read alike. */
export const ANY_LOGS: (typeof v2)['logs'] = new Map(ALL.flatMap(({ logs }) => [...logs]))
