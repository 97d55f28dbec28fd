/**
 * The tokens and pools of one chain, or those of them that are followed, built from a snapshot and the records after
 * it.
 *
 * Pages of a snapshot are read at different moments, so each entity has a position of its own: a record applies to an
 * entity only above that position. Records are absolute, so a skipped record is never missed.
 */
import type { Health } from '../wire/health.ts'
import type { Id } from '../wire/identifier.ts'
import type { Pool, PoolPage, PoolState, PoolToken } from '../wire/pool.ts'
import type { CompactState } from '../wire/price.ts'
import type { Envelope } from '../wire/stream.ts'
import { FeedWatch } from './feedWatch.ts'
import { Scope } from './scope.ts'

export type FollowedToken = {
  readonly token_id: Id
  /** Null for a token that was in no pool of the snapshot. */
  readonly token: Omit<PoolToken, 'price'> | null
  /** Null before it is first evaluated. */
  readonly price: CompactState | null
  /** Records at or below this sequence are older than the entry. */
  readonly sequence: number
}

export type FollowedPool = {
  readonly pool_id: Id
  /** Null for a pool younger than the snapshot. */
  readonly pool: Omit<Pool, 'state'> | null
  readonly state: PoolState | null
  readonly sequence: number
}

type Upsert = Extract<Envelope, { type: 'PRICE_UPSERT' }>['payload']
type Retract = Extract<Envelope, { type: 'PRICE_RETRACT' }>['payload']

export class Market {
  readonly #tokens = new Map<Id, FollowedToken>()
  readonly #pools = new Map<Id, FollowedPool>()
  readonly #scope: Scope
  /** Survives a reset, because it describes the chain and not a position in its log. */
  readonly feed = new FeedWatch()
  #health: Health | null = null
  #sequence: number | null = null

  constructor(scope = new Scope()) {
    this.#scope = scope
  }

  get tokens(): ReadonlyMap<Id, FollowedToken> {
    return this.#tokens
  }

  get pools(): ReadonlyMap<Id, FollowedPool> {
    return this.#pools
  }

  get health(): Health | null {
    return this.#health
  }

  /** Everything up to this sequence has been applied; null without a snapshot. */
  get sequence(): number | null {
    return this.#sequence
  }

  /** Discards everything, because the cursor was refused. */
  clear(): void {
    this.#tokens.clear()
    this.#pools.clear()
    this.#health = null
    this.#sequence = null
  }

  /** Loads a whole snapshot; records have to be replayed from the oldest of its pages. */
  load(pages: readonly PoolPage[], nowMs: number = Date.now()): void {
    this.clear()
    this.feed.opened(pages.at(-1)?.feeds?.[0], nowMs)
    for (const page of pages) {
      for (const { state, ...pool } of page.pools) {
        if (!this.#scope.takes(pool)) continue
        const sequence = state?.stream_sequence ?? page.snapshot_sequence
        this.#pools.set(pool.pool_id, { pool_id: pool.pool_id, pool, state, sequence })
        this.#loadToken(pool.token0, page.snapshot_sequence)
        this.#loadToken(pool.token1, page.snapshot_sequence)
      }
      this.#sequence = Math.min(this.#sequence ?? page.snapshot_sequence, page.snapshot_sequence)
    }
  }

  /**
   * False for overlap (a record applied before, or older than an entity's own state) and for records out of scope.
   * `isReplayed`: the record was in the log before the connection was made.
   */
  apply(record: Envelope, nowMs: number = Date.now(), isReplayed = false): boolean {
    if (this.#sequence !== null && record.stream_sequence <= this.#sequence) return false
    this.#sequence = record.stream_sequence
    if (!this.#scope.has(record)) return false
    switch (record.type) {
      case 'PRICE_UPSERT':
        return this.#upsert(record.payload, record.stream_sequence)
      case 'PRICE_RETRACT':
        return this.#retract(record.payload, record.stream_sequence)
      case 'FEED_HEALTH':
        this.#health = record.payload
        this.feed.heard(record.payload.status, nowMs, isReplayed)
        return true
      case 'SWAP_OBSERVED':
        return true
      default:
        // A record type of a later server only advances the position.
        return false
    }
  }

  /** A token is in many pools, on pages of different moments; the newest state wins. */
  #loadToken({ price, ...token }: PoolToken, pageSequence: number): void {
    if (!this.#scope.hasToken(token.token_id)) return
    const sequence = price?.as_of.stream_sequence ?? pageSequence
    const held = this.#tokens.get(token.token_id)
    if (held === undefined || sequence > held.sequence)
      this.#tokens.set(token.token_id, { token_id: token.token_id, token, price, sequence })
  }

  #upsert(payload: Upsert, sequence: number): boolean {
    if (payload.scope === 'token') {
      const { scope: _, chain_id: __, token_id, record_id: ___, ...price } = payload
      return this.#setToken(token_id, price, sequence)
    }
    const { scope: _, chain_id: __, pool_id, record_id: ___, ...state } = payload
    return this.#setPool(pool_id, state, sequence)
  }

  #retract(payload: Retract, sequence: number): boolean {
    if (payload.scope === 'token') return this.#setToken(payload.token_id, payload.current, sequence)
    if (payload.current !== null) return this.#setPool(payload.pool_id, payload.current, sequence)
    return isAbove(sequence, this.#pools.get(payload.pool_id)) && this.#pools.delete(payload.pool_id)
  }

  #setToken(token_id: Id, price: CompactState, sequence: number): boolean {
    const held = this.#tokens.get(token_id)
    if (!isAbove(sequence, held)) return false
    this.#tokens.set(token_id, { token_id, token: held?.token ?? null, price, sequence })
    return true
  }

  #setPool(pool_id: Id, state: PoolState, sequence: number): boolean {
    const held = this.#pools.get(pool_id)
    if (!isAbove(sequence, held)) return false
    this.#pools.set(pool_id, { pool_id, pool: held?.pool ?? null, state, sequence })
    return true
  }
}

const isAbove = (sequence: number, held: { readonly sequence: number } | undefined): boolean =>
  held === undefined || sequence > held.sequence
