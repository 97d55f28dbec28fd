/**
 * What the API asks of a chain: enrol a token, compute a quote. Plain data in and out, so that the chain may
 * live in this thread, in a worker thread, or in another process.
 */
import type { Policy } from '@assay/engine'
import type { EndpointCalls } from '../feed/feed.ts'

/** Where an asked-for token stands. */
export type Enrolment =
  | { readonly state: 'PENDING'; readonly stage: 'DISCOVERY' | 'EVALUATION'; readonly retryAfterMs: number }
  /** Its first record is committed: read it from the store. */
  | { readonly state: 'EVALUATED' }
  /** No code at the address, or nothing that answers like a token. */
  | { readonly state: 'TOKEN_UNKNOWN' }
  | { readonly state: 'RPC_UNAVAILABLE' }
  /** The budget for on-demand work is spent until then. */
  | { readonly state: 'BUDGET_EXCEEDED'; readonly retryAfterMs: number }

export type Narrowing = {
  readonly maxHops: number | null
  readonly minDepthUsd: number | null
  readonly excludePools: readonly string[]
}

/** What had to be read from the chain first was not. */
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

/** Sizes of a sale: dollars at the published price, as whole microdollars, or units of the token; decimal text. */
export type SaleSizes = { readonly in: 'microusd' | 'units'; readonly values: readonly string[] }

export type SaleAnswer =
  | { readonly outcome: 'exit'; readonly exit: string }
  | { readonly outcome: 'not_enrolled' }
  | { readonly outcome: 'is_stable' }
  | { readonly outcome: 'unpriced'; readonly reason: string }

/** What came of an operator's word on decimals that changed. */
export type DecimalsConfirmation =
  | { readonly outcome: 'confirmed' }
  /** No other number waits: there is nothing to confirm. */
  | { readonly outcome: 'not_held' }
  /** The token says something else; null where it says nothing that could be decimals. */
  | { readonly outcome: 'other'; readonly read: number | null }
  | { readonly outcome: 'rpc_unavailable'; readonly reason: string }

export type CostAnswer =
  | { readonly outcome: 'cost'; readonly cost: string }
  | { readonly outcome: 'not_enrolled' }
  | { readonly outcome: 'is_stable' }
  | { readonly outcome: 'unpriced'; readonly reason: string }

/** The chain's thread is gone; its supervisor starts another. */
export class ChainDown extends Error {
  override readonly name = 'ChainDown'
}

export interface ChainService {
  readonly chainId: number
  /** How far a token is on its way in; null when asking for it would start on-demand work. */
  progress(token: string): Promise<Enrolment | null>
  /**
   * Starts an enrolment, or says how far it is. The first answer for an unknown token is PENDING. Work for different
   * consumers, here and below, is done in turn.
   */
  enrol(token: string, consumer?: string): Promise<Enrolment>
  /**
   * The quote of an enrolled token computed at the tip; JSON text. With re-verification its pools are first read
   * from the chain again: if the chain cannot be reached there is no answer, rather than an old one with a new
   * date.
   */
  tokenQuote(
    token: string,
    narrowing: Narrowing | null,
    isVerifiedAnew: boolean,
    consumer?: string,
  ): Promise<TokenAnswer>
  /** What sales of an enrolled token would pay at the tip; JSON text. */
  exit(token: string, sizes: SaleSizes): Promise<SaleAnswer>
  /** What it would cost to move the published price of an enrolled token; JSON text. */
  cost(token: string): Promise<CostAnswer>
  /** Takes a token back at the operator's wish; false when it is not enrolled. */
  unenrol(token: string): Promise<boolean>
  /** Lets changed decimals count at once, if the token still says this number. */
  confirmDecimals(token: string, decimals: number): Promise<DecimalsConfirmation>
  /** Nothing is priced while a chain is paused; it goes on following its blocks. */
  setPaused(isPaused: boolean): Promise<void>
  setPolicy(policy: Policy): Promise<void>
  /** What tokens would say under another policy, where that differs from what they say; wire JSON. */
  tryPolicy(policy: Policy): Promise<readonly { readonly token: string; readonly state: string }[]>
  /**
   * The quote of a pool, looked up and loaded first if it is not known, and if that is done by the deadline. A state
   * last verified longer ago than `maxAgeMs` is first read from the chain again, as for a token.
   */
  poolQuote(
    pool: string,
    deadlineMs: number,
    maxAgeMs?: number | null,
    consumer?: string,
  ): Promise<PoolAnswer>
}

/** What a commit took, and how much was done since the thread began. */
export type Work = {
  readonly input: string
  readonly stepMs: number
  readonly commitMs: number
  readonly verifiedBlocks: number
  readonly reorgs: number
  readonly endpoints: readonly EndpointCalls[]
}

/** How far the back-fill of a chain is; numbers of blocks are null before it knows them. */
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

/** Scans of the past of chains, for operators. */
export interface Backfills {
  /** One that already runs goes on as it is. */
  start(chainId: number, bounds: { readonly fromBlock?: number; readonly toBlock?: number }): unknown
  /** Of every chain that has one, running or not. */
  list(): Promise<readonly BackfillView[]>
}
