/** The result of a simulated sale of a token, and the holdings of pools, as read by the worker at a block. */
import type { Family } from './amm/familyNames.ts'
import type { Address } from './chain/block.ts'
import type { Sellable } from './rules/sellability.ts'
import type { Count } from './units.ts'

/** For token0 and token1. */
export type PoolBalances = { readonly pool: Address; readonly balances: readonly [bigint, bigint] }

export type ProbedPool = {
  readonly pool: Address
  readonly family: Family
  readonly feePpm: Count
  /** For a pool that is not a contract of its own: the data needed to trade with it. */
  readonly key?: {
    readonly manager: Address
    readonly keyFee: Count
    readonly tickSpacing: Count
    readonly hooks: Address
    readonly currency1: Address
    /** The pair of tokens, and whether the pool uses native currency in place of token0. */
    readonly token0: Address
    readonly isNative: boolean
  }
}

export type SellabilityReading = Sellable & {
  readonly token: Address
  /** The pool used for trading; null when there was none. */
  readonly pool: Address | null
  readonly method: 'CALL_OVERRIDE' | 'SIMULATE' | 'TRANSFER_LOGS' | null
  /** From wrapped native to the token, that pool last. */
  readonly path: readonly ProbedPool[]
  /** Wei of native currency spent on each purchase. */
  readonly sizes: readonly bigint[]
  /** The revert text. */
  readonly revert: string | null
}
