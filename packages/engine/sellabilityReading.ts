/** What a simulated sale of a token found, and what pools hold, as the worker read it at a block. */
import type { Family } from './amm/familyNames.ts'
import type { Address } from './chain/block.ts'
import type { Sellable } from './rules/sellability.ts'
import type { Count } from './units.ts'

/** Of token0 and of token1. */
export type PoolBalances = { readonly pool: Address; readonly balances: readonly [bigint, bigint] }

export type ProbedPool = {
  readonly pool: Address
  readonly family: Family
  readonly feePpm: Count
  /** Of a pool that is no contract of its own: what it takes to trade with it. */
  readonly key?: {
    readonly manager: Address
    readonly keyFee: Count
    readonly tickSpacing: Count
    readonly hooks: Address
    readonly currency1: Address
    /** Of the pair of tokens, and whether the pool has native currency in its place. */
    readonly token0: Address
    readonly isNative: boolean
  }
}

export type SellabilityReading = Sellable & {
  readonly token: Address
  /** The one that was traded with; null where there was none to trade with. */
  readonly pool: Address | null
  readonly method: 'CALL_OVERRIDE' | 'SIMULATE' | 'TRANSFER_LOGS' | null
  /** From wrapped native to the token, that pool last. */
  readonly path: readonly ProbedPool[]
  /** Wei of native currency spent on each purchase. */
  readonly sizes: readonly bigint[]
  /** What was said by what reverted. */
  readonly revert: string | null
}
