/** The pool families of the market: one line each. */
import type { Family } from '@assay/engine'
import type { Hex } from '../ops/hex.ts'
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

/**
 * The caller passes a deployment and a pool of this family; a pool always matches, because its deployment defines the
 * family.
 */
export const marketOf = (family: Family): MarketFamily<Family> => MARKETS[family] as MarketFamily<Family>

/** Whether one contract holds all pools of a deployment and emits their logs; the second topic identifies the pool. */
export const isHeldByOne = (family: Family): boolean => marketOf(family).holder !== null

const topicsOf = (families: readonly Pick<MarketFamily<Family>, 'signatures'>[]): readonly Hex[] => [
  ...new Set(families.flatMap(({ signatures }) => Object.keys(signatures) as Hex[])),
]
const OWN = ALL.filter(({ holder }) => holder === null)

/** Topics of all logs that a pool or a factory emits. */
export const POOL_TOPICS = topicsOf(ALL)
/** Those of pools that are contracts of their own, and of their factories. */
export const OWN_TOPICS = topicsOf(OWN)
/** Those of contracts that hold many pools. */
export const HELD_TOPICS = topicsOf(ALL.filter(({ holder }) => holder !== null))
/** Topics that announce a new pool that is a contract of its own. */
export const OWN_CREATIONS: readonly Hex[] = [...new Set(OWN.flatMap(({ creations }) => creations))]

/** Decoders of logs by topic alone, for a pool of unknown family: families decode equal topics in the same way. */
export const ANY_LOGS: (typeof v2)['logs'] = new Map(ALL.flatMap(({ logs }) => [...logs]))
