/**
 * The stage of an attack: a chain with pools and a service that prices tokens on it, reduced to the moves available
 * to an attacker, or caused by a bad day. Amounts are dollars, prices are dollars per token, times are seconds. An
 * attack knows only this interface, so the same file runs on the engine alone and on real contracts through the whole
 * service.
 *
 * Moves happen in the order they are made and belong to the block that the next `block()` closes.
 */
import type { PoolFamily } from './families.ts'

export type PoolSpec = {
  readonly of: string
  /** The other token; USDC by default. */
  readonly with?: string
  /** Dollars per token; 1 by default. */
  readonly price?: number
  /** Dollars that move the price by 2%. */
  readonly depth: number
  /** A constant-product pair by default. */
  readonly family?: PoolFamily
  /** Two factories of each family; `a` by default. */
  readonly factory?: 'a' | 'b'
  /** For a pool with ticks: 500, 3000 or 10000, or what its family has instead. */
  readonly feePpm?: number
  /** For a pool with ticks: the multiples of its price between which it has liquidity. */
  readonly band?: Band
  /** Seconds since its last trade; a minute by default. Its age is unknown, like that of a pool found by a look-up. */
  readonly idleS?: number
  /** Created in the next block, while the service watches. */
  readonly isNew?: boolean
}

export type Band = readonly [low: number, high: number]

/** Liquidity that can be removed again. */
export type Position = { readonly pool: string; readonly name: number }

export type LookOptions = {
  /** The price before the attack; 1 by default. */
  readonly usd?: number
}

export type TokenOptions = {
  readonly decimals?: number
  readonly usd?: number
  /** The part of a sale that does not arrive, in basis points; null when only the owner can sell. 0 by default. */
  readonly sellTaxBps?: number | null
  /**
   * The balance of its pools as a multiple of the amount they account for, once the token is requested; 1 by default.
   */
  readonly heldTimes?: number
}

export type Stage = {
  /**
   * 18 decimals by default. Stables USDC and USDT (6) and the routing asset WETH (18, 2,000 USD) exist from the
   * start.
   */
  token(name: string, options?: TokenOptions): void
  pool(name: string, spec: PoolSpec): Promise<void>
  /** Pools of WETH with this depth, one of each v2 factory, or the first alone. */
  anchors(depth: number, pools?: 1 | 2): Promise<void>
  /**
   * Contracts that look like a pool of the token at this price but are not: one of an unlisted factory, and one that
   * claims a listed one.
   */
  impostors(token: string, usd: number, depth: number): Promise<void>
  /** Requests the token; the service follows it from here on. */
  ask(token: string): Promise<void>

  /** Adds liquidity around the present price of a pool, with this depth, or with a band of its own in a pool with ticks. */
  add(pool: string, depth: number, band?: Band): Position
  remove(position: Position): void
  /** Removes a share of all liquidity. */
  drain(pool: string, share: number): void
  /** Trades until the marginal price reaches this value. */
  push(pool: string, usd: number): void
  buy(pool: string, usd: number): void
  sell(pool: string, usd: number): void
  /** Donates dollars of one side to a pair and makes the pair count them. */
  donate(pool: string, side: 'token' | 'other', usd: number): void
  /** At this point in the block a seller sells 1,000 USD of the token as well as possible; the sale leaves no trace. */
  seller(token: string): void
  /** The real value in dollars of a stable or routing asset from here on, for the seller. */
  worth(asset: string, usd: number): void

  /** Closes the block, `afterS` seconds after the previous one; twelve by default. */
  block(afterS?: number): Promise<void>
  /** Blocks without events. */
  quiet(forS: number, everyS?: number): Promise<void>
  /** No block arrives, and the service evaluates again when its own timers fire. */
  wait(forS: number): Promise<void>
  /**
   * Repeats an action block after block, each round to its end. A real chain may continue with it until the service
   * has recovered.
   */
  rounds(times: number, round: (n: number) => Promise<void>): Promise<void>
  /** Replaces the blocks since the mark with the same number of empty ones. */
  mark(): void
  orphan(): Promise<void>

  /** Sets the answer of a stable's USD feed. */
  feed(asset: string, usd: number): Promise<void>
  /** The decimals that a token reports. */
  decimals(token: string, decimals: number | null): Promise<void>
  /** The health of the endpoints as the service finds it. */
  health(status: 'HEALTHY' | 'DEGRADED' | 'GAP' | 'UNAVAILABLE'): Promise<void>

  /** Counts changes of the token's published score from here on. */
  watch(token: string): void
  /** Records the published state, to be judged. */
  look(token: string, options?: LookOptions): Promise<void>
}
