/**
 * Where an attack plays: a chain with pools and a service that prices tokens on it, reduced to the moves an attacker or
 * a bad day has. Amounts are dollars, prices are dollars a token, times are seconds. An attack only knows this, so that
 * the same file runs on the engine alone and on real contracts through the whole service.
 *
 * Moves happen in the order they are made and belong to the block that the next `block()` closes.
 */

export type PoolSpec = {
  readonly of: string
  /** The other token: USDC unless it says otherwise. */
  readonly with?: string
  /** Dollars a token; 1 unless it says otherwise. */
  readonly price?: number
  /** Dollars that move the price by 2%. */
  readonly depth: number
  /** A constant-product pair unless it says otherwise. */
  readonly family?: 'v2' | 'v3'
  /** Two factories of each family: `a` unless it says otherwise. */
  readonly factory?: 'a' | 'b'
  /** Of a v3 pool: 500, 3000 or 10000. */
  readonly feePpm?: number
  /** Of a v3 pool: the multiples of its price between which its liquidity lies. */
  readonly band?: Band
  /** Seconds since its last trade; a minute unless it says otherwise. Its age is unknown, as of a pool that was looked up. */
  readonly idleS?: number
  /** Made in the block that follows, before the service's eyes. */
  readonly isNew?: boolean
}

export type Band = readonly [low: number, high: number]

/** Liquidity that can be taken out again. */
export type Position = { readonly pool: string; readonly name: number }

export type LookOptions = {
  /** The price before the attack; 1 unless it says otherwise. */
  readonly usd?: number
}

export type TokenOptions = {
  readonly decimals?: number
  readonly usd?: number
  /** What does not arrive of a sale, in basis points; null where only its owner can sell. 0 unless it says otherwise. */
  readonly sellTaxBps?: number | null
  /** How many times over its pools have of it what they reckon with, once it is asked for; once unless it says otherwise. */
  readonly heldTimes?: number
}

export type Stage = {
  /** 18 decimals unless it says otherwise. Stables USDC and USDT (6) and the routing asset WETH (18, 2,000 USD) are there. */
  token(name: string, options?: TokenOptions): void
  pool(name: string, spec: PoolSpec): Promise<void>
  /** Pools of WETH as deep as this, one of each v2 factory, or the first alone. */
  anchors(depth: number, pools?: 1 | 2): Promise<void>
  /** Contracts that look like a pool of the token at this price and are none: of an unlisted factory, and one that claims a listed one. */
  impostors(token: string, usd: number, depth: number): Promise<void>
  /** From here on the token is asked for. */
  ask(token: string): Promise<void>

  /** Adds liquidity around the price a pool has, so many dollars deep, or, of a v3 pool, with a band of its own. */
  add(pool: string, depth: number, band?: Band): Position
  remove(position: Position): void
  /** Takes out a share of all liquidity there is. */
  drain(pool: string, share: number): void
  /** Trades until the marginal price is this. */
  push(pool: string, usd: number): void
  buy(pool: string, usd: number): void
  sell(pool: string, usd: number): void
  /** Gives dollars of one side to a pair and lets it count them. */
  donate(pool: string, side: 'token' | 'other', usd: number): void
  /** Here in the block somebody sells 1,000 USD worth of the token, as best as can be; nothing is left of the sale. */
  seller(token: string): void
  /** Dollars a stable or routing asset really is worth from here on, for the seller. */
  worth(asset: string, usd: number): void

  /** Closes the block, so many seconds after the one before; twelve unless it says otherwise. */
  block(afterS?: number): Promise<void>
  /** Blocks without events. */
  quiet(forS: number, everyS?: number): Promise<void>
  /** No block comes, and the service looks again when its own timers say so. */
  wait(forS: number): Promise<void>
  /** What is done in block after block, each round to its end. A real chain may go on with it until the service is well. */
  rounds(times: number, round: (n: number) => Promise<void>): Promise<void>
  /** The blocks since the mark are replaced by as many empty ones. */
  mark(): void
  orphan(): Promise<void>

  /** The USD feed of a stable answers this. */
  feed(asset: string, usd: number): Promise<void>
  /** What a token says its decimals are. */
  decimals(token: string, decimals: number | null): Promise<void>
  /** What the service finds of its endpoints. */
  health(status: 'HEALTHY' | 'DEGRADED' | 'GAP' | 'UNAVAILABLE'): Promise<void>

  /** From here on changes of the token's published score are counted. */
  watch(token: string): void
  /** What is published now, to be judged. */
  look(token: string, options?: LookOptions): Promise<void>
}
