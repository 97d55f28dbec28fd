/**
 * The calls of the API to a chain, for example enrolling a token or computing a quote. Arguments and results are plain
 * data, so the chain may live in this thread, in a worker thread, or in another process.
 */
import type { Policy } from '@assay/engine'
import type { EndpointCalls } from '../feed/feed.ts'

/** Progress of a requested token. */
export type Enrolment =
  | { readonly state: 'PENDING'; readonly stage: 'DISCOVERY' | 'EVALUATION'; readonly retryAfterMs: number }
  /** Its first record is committed and can be read from the store. */
  | { readonly state: 'EVALUATED' }
  /** No code at the address, or a contract that does not behave like a token. */
  | { readonly state: 'TOKEN_UNKNOWN' }
  | { readonly state: 'RPC_UNAVAILABLE' }
  /** The consumer's budget for on-demand work is spent for this long. */
  | { readonly state: 'BUDGET_EXCEEDED'; readonly retryAfterMs: number }

export type Narrowing = {
  readonly maxHops: number | null
  readonly minDepthUsd: number | null
  readonly excludePools: readonly string[]
}

/** State that had to be read from the chain first could not be read. */
export type Unread =
  | { readonly outcome: 'rpc_unavailable'; readonly reason: string }
  | { readonly outcome: 'budget_exceeded'; readonly retryAfterMs: number }

export type TokenAnswer =
  | { readonly outcome: 'quote'; readonly quote: string }
  | { readonly outcome: 'not_enrolled' }
  | Unread

export type PoolAnswer =
  | { readonly outcome: 'quote'; readonly quote: string }
  | { readonly outcome: 'not_a_pool' }
  | { readonly outcome: 'not_supported'; readonly reason: string }
  | { readonly outcome: 'no_route'; readonly reason: string }
  /** The deadline has passed. */
  | { readonly outcome: 'too_late' }
  | Unread

/** Sizes of a sale as decimal text: dollars at the published price, in whole microdollars, or units of the token. */
export type SaleSizes = { readonly in: 'microusd' | 'units'; readonly values: readonly string[] }

export type SaleAnswer =
  | { readonly outcome: 'exit'; readonly exit: string }
  | { readonly outcome: 'not_enrolled' }
  | { readonly outcome: 'is_stable' }
  | { readonly outcome: 'unpriced'; readonly reason: string }

/** Outcome of an operator's confirmation of changed decimals. */
export type DecimalsConfirmation =
  | { readonly outcome: 'confirmed' }
  /** No changed decimals are being held, so there is nothing to confirm. */
  | { readonly outcome: 'not_held' }
  /** The token reports another value; null if it reports nothing that could be decimals. */
  | { readonly outcome: 'other'; readonly read: number | null }
  | { readonly outcome: 'rpc_unavailable'; readonly reason: string }

export type CostAnswer =
  | { readonly outcome: 'cost'; readonly cost: string }
  | { readonly outcome: 'not_enrolled' }
  /** Its turn came after the deadline. */
  | { readonly outcome: 'too_late' }
  | { readonly outcome: 'is_stable' }
  | { readonly outcome: 'unpriced'; readonly reason: string }

/** The chain's thread is gone; its supervisor starts a new one. */
export class ChainDown extends Error {
  override readonly name = 'ChainDown'
}

export interface ChainService {
  readonly chainId: number
  /** Progress of a token; null when a request for it would start on-demand work. */
  progress(token: string): Promise<Enrolment | null>
  /**
   * Starts an enrolment, or returns its progress. The first answer for an unknown token is PENDING. Here and below,
   * work for different consumers is done in turn.
   */
  enrol(token: string, consumer?: string): Promise<Enrolment>
  /**
   * The quote of an enrolled token computed at the tip, as JSON text. With re-verification its pools are first read
   * from the chain again; if the chain cannot be reached the call fails rather than return old state with a new date.
   */
  tokenQuote(
    token: string,
    narrowing: Narrowing | null,
    isVerifiedAnew: boolean,
    consumer?: string,
  ): Promise<TokenAnswer>
  /** What sales of an enrolled token would pay at the tip, as JSON text. */
  exit(token: string, sizes: SaleSizes): Promise<SaleAnswer>
  /** What it would cost to move the published price of an enrolled token, as JSON text. Such answers wait for each other. */
  cost(token: string, deadlineMs: number): Promise<CostAnswer>
  /** Removes a token at an operator's request; false when it is not enrolled. */
  unenrol(token: string): Promise<boolean>
  /** Applies changed decimals at once, if the token still reports this number. */
  confirmDecimals(token: string, decimals: number): Promise<DecimalsConfirmation>
  /** Pauses or resumes pricing; a paused chain still follows its blocks. */
  setPaused(isPaused: boolean): Promise<void>
  setPolicy(policy: Policy): Promise<void>
  /** The states of tokens under another policy, only where they differ from the current ones; wire JSON. */
  tryPolicy(policy: Policy): Promise<readonly { readonly token: string; readonly state: string }[]>
  /**
   * The quote of a pool. An unknown pool is looked up and loaded first, if that succeeds before the deadline. If its
   * state was last verified longer ago than `maxAgeMs` it is read from the chain again, as for a token.
   */
  poolQuote(
    pool: string,
    deadlineMs: number,
    maxAgeMs?: number | null,
    consumer?: string,
  ): Promise<PoolAnswer>
}

/** Duration of a commit, and totals since the thread started. */
export type Work = {
  readonly input: string
  readonly stepMs: number
  readonly commitMs: number
  readonly verifiedBlocks: number
  readonly reorgs: number
  readonly endpoints: readonly EndpointCalls[]
}

/** Progress of a chain's back-fill; block numbers are null until it knows them. */
export type BackfillView = {
  readonly chainId: number
  readonly status: 'RUNNING' | 'DONE' | 'STOPPED' | 'FAILED'
  readonly fromBlock: number | null
  readonly toBlock: number | null
  readonly nextBlock: number | null
  readonly events: number
  readonly etaS: number | null
  readonly error: string | null
}

/** Back-fills of chains, for operators. */
export interface Backfills {
  /** Has no effect on one that already runs. */
  start(chainId: number, bounds: { readonly fromBlock?: number; readonly toBlock?: number }): unknown
  /** The back-fill of every chain that has one, running or not. */
  list(): Promise<readonly BackfillView[]>
}
