/**
 * The current state of the console: every chain and every token, kept up to date by one follower per chain.
 *
 * Records change maps at once and the screen once per frame, however many arrive between two frames. The follower
 * repairs a dropped connection: it resumes after the last record, so nothing is shown twice or missed.
 */
import {
  AssayError,
  type Chain,
  type Client,
  type CompactState,
  type Envelope,
  type FeedGone,
  type Follower,
  type FollowEvent,
  type FollowStatus,
  type Health,
  toGone,
  UnauthenticatedError,
} from '@assay/sdk'
import { useEffect, useState } from 'preact/hooks'
import { changeDirection } from './direction.ts'
import { chainName, shortAddress } from './format.ts'
import { addressOf, besideIn, isNews, keyOf, type Row } from './row.ts'

export type LiveChain = {
  readonly chain: Chain
  /** The present status: a feed that has gone silent for this browser is UNAVAILABLE. */
  readonly health: Health | null
  readonly status: FollowStatus | 'failed'
  readonly reason: string | null
  /** The newest block mentioned in a record. */
  readonly block: { readonly number: number; readonly timeMs: number } | null
  readonly tokens: number
  /** The age of the newest block, second by second; oldest first. */
  readonly lags: readonly number[]
}

const LAG_SAMPLES = 60
const RATE_SECONDS = 30
const PAGE = 1000
/** The pause before a follower that failed permanently is restarted. */
const AGAIN_MS = 3000
/** New tokens are looked up in batches. */
const GATHER_MS = 1000
/** Between two readings of the additional columns. */
const BESIDE_MS = 60_000
/** The prices of all chains have arrived by then, and must not wait for it. */
const BESIDE_AFTER_MS = 1500

export class Live {
  readonly client: Client
  readonly chains = new Map<number, LiveChain>()
  readonly rows = new Map<string, Row>()
  readonly #followers = new Map<number, Follower>()
  /** Changes when rows are added or removed, and not with every price. */
  structure = 0
  failure: Error | null = null
  #received: number[] = [0]
  readonly #ending = new AbortController()
  readonly #listeners = new Set<() => void>()
  readonly #gathering = new Set<number>()
  readonly #beside = new Set<number>()
  readonly #onEnded: () => void
  #frame: number | null = null

  /** `onEnded` is called when the session is over. */
  constructor(client: Client, onEnded: () => void) {
    this.client = client
    this.#onEnded = onEnded
    const second = setInterval(() => this.#tick(), 1000)
    this.#ending.signal.addEventListener('abort', () => clearInterval(second))
    void this.#open()
  }

  close(): void {
    this.#ending.abort()
    if (this.#frame !== null) cancelAnimationFrame(this.#frame)
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  row(chainId: number, address: string): Row | undefined {
    return this.rows.get(keyOf(chainId, address))
  }

  /** The token's own symbol; its shortened address if it has none. */
  symbol(chainId: number, address: string): string {
    return this.row(chainId, address)?.token.symbol ?? shortAddress(address)
  }

  chainName(chainId: number): string {
    return chainName(this.chains.get(chainId)?.chain.name ?? `chain ${chainId}`)
  }

  /** Why a chain's feed is gone; null while it carries prices. */
  feedGone(chainId: number): FeedGone | null {
    const health = this.chains.get(chainId)?.health
    return health == null ? null : toGone(health.status)
  }

  /** Records per second over the last half minute. */
  get rate(): number {
    const whole = this.#received.slice(0, -1)
    return whole.length === 0 ? 0 : whole.reduce((sum, each) => sum + each, 0) / whole.length
  }

  get rates(): readonly number[] {
    return this.#received
  }

  async #open(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      try {
        const { chains } = await this.client.fetchChains({ signal: this.#ending.signal })
        for (const chain of chains)
          this.chains.set(chain.chain_id, {
            chain,
            health: chain.health,
            status: 'resetting',
            reason: null,
            block: null,
            tokens: 0,
            lags: [],
          })
        this.failure = null
        this.#touch()
        for (const chain of chains) void this.#follow(chain.chain_id)
        return
      } catch (failure) {
        if (!(await this.#mayGoOn(failure))) return
      }
    }
  }

  async #follow(chainId: number): Promise<void> {
    while (!this.#ending.signal.aborted) {
      try {
        await this.#loadTokens(chainId)
        void this.#keepBeside(chainId)
        const follower = this.client.follow({
          chain_id: chainId,
          signal: this.#ending.signal,
          // A console keeps retrying as long as it is open.
          backoff: { maxMs: 5000, maxFailures: Number.POSITIVE_INFINITY },
        })
        this.#followers.set(chainId, follower)
        for await (const event of follower) this.#take(chainId, follower, event)
        return
      } catch (failure) {
        this.#update(chainId, {
          status: 'failed',
          reason: failure instanceof Error ? failure.message : String(failure),
        })
        if (!(await this.#mayGoOn(failure))) return
      }
    }
  }

  /** False when another attempt is pointless: the console was closed or the session is over. */
  async #mayGoOn(failure: unknown): Promise<boolean> {
    if (this.#ending.signal.aborted) return false
    if (failure instanceof UnauthenticatedError) {
      this.close()
      this.#onEnded()
      return false
    }
    this.failure = failure instanceof Error ? failure : new Error(String(failure))
    this.#touch()
    const waitMs = failure instanceof AssayError ? Math.max(AGAIN_MS, failure.retryAfterMs ?? 0) : AGAIN_MS
    await new Promise(resolve => setTimeout(resolve, waitMs))
    return !this.#ending.signal.aborted
  }

  async #loadTokens(chainId: number): Promise<void> {
    let cursor: string | undefined
    let tokens = 0
    do {
      const page = await this.client.fetchTokens(
        { chain_id: chainId, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) },
        { signal: this.#ending.signal },
      )
      for (const { price, state: _, ...token } of page.tokens) {
        const key = keyOf(chainId, token.token_address)
        const held = this.rows.get(key)
        this.rows.set(key, {
          key,
          token,
          price: held === undefined || isNews(price, held.price) ? price : held.price,
          changedAtMs: held?.changedAtMs ?? 0,
          direction: held?.direction ?? 0,
          retraction: held?.retraction ?? null,
          beside: held?.beside ?? null,
        })
      }
      tokens += page.tokens.length
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
    this.structure += 1
    this.#update(chainId, { tokens })
  }

  /** The additional columns are loaded after the prices, and again every minute, because they are not worth a wait. */
  async #keepBeside(chainId: number): Promise<void> {
    if (this.#beside.has(chainId)) return
    this.#beside.add(chainId)
    await new Promise(resolve => setTimeout(resolve, BESIDE_AFTER_MS))
    while (!this.#ending.signal.aborted) {
      // Without an answer the cells keep their values until the next one.
      await this.#loadBeside(chainId).catch(() => undefined)
      await new Promise(resolve => setTimeout(resolve, BESIDE_MS))
    }
  }

  async #loadBeside(chainId: number): Promise<void> {
    let cursor: string | undefined
    do {
      const page = await this.client.fetchTokens(
        {
          chain_id: chainId,
          limit: PAGE,
          include: 'change,spark,depth',
          ...(cursor === undefined ? {} : { cursor }),
        },
        { signal: this.#ending.signal },
      )
      for (const token of page.tokens) {
        const row = this.rows.get(keyOf(chainId, token.token_address))
        if (row !== undefined) this.rows.set(row.key, { ...row, beside: besideIn(token) })
      }
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
    this.structure += 1
    this.#touch()
  }

  #take(chainId: number, follower: Follower, event: FollowEvent): void {
    if (event.kind === 'status') {
      // Changes made while there was no connection are in the follower's snapshot.
      if (event.status === 'replaying' || event.status === 'live') this.#adopt(chainId, follower)
      if (event.status === 'live') this.failure = null
      this.#update(chainId, { status: event.status, reason: event.reason })
      return
    }
    this.#received[this.#received.length - 1] = (this.#received.at(-1) ?? 0) + 1
    this.#note(chainId, event.record)
    this.#touch()
  }

  #adopt(chainId: number, follower: Follower): void {
    for (const { token_id, price } of follower.storedTokens()) {
      const row = this.rows.get(keyOf(chainId, addressOf(token_id)))
      if (row !== undefined && isNews(price, row.price)) this.rows.set(row.key, { ...row, price })
    }
    this.#updateHealth(chainId)
  }

  #updateHealth(chainId: number): void {
    const held = this.chains.get(chainId)
    const follower = this.#followers.get(chainId)
    if (held === undefined || follower === undefined) return
    this.#update(chainId, { health: healthIn(follower, held.chain.health) })
  }

  #note(chainId: number, record: Envelope): void {
    const { type, payload } = record
    if (type === 'FEED_HEALTH') {
      const { processed } = payload
      const block =
        processed === null ? null : { number: processed.block_number, timeMs: processed.block_time_ms }
      this.#update(chainId, { block })
      this.#updateHealth(chainId)
      return
    }
    if (type === 'SWAP_OBSERVED' || payload.scope !== 'token') return
    const state: CompactState = type === 'PRICE_RETRACT' ? payload.current : payload
    const { block_number, block_time_ms } = state.as_of
    this.#update(chainId, { block: { number: block_number, timeMs: block_time_ms } })
    const row = this.rows.get(keyOf(chainId, addressOf(payload.token_id)))
    if (row === undefined) {
      this.#gather(chainId)
      return
    }
    const atMs = Date.now()
    this.rows.set(row.key, {
      ...row,
      price: state,
      changedAtMs: atMs,
      direction: changeDirection(row.price, state),
      retraction: type === 'PRICE_RETRACT' ? { atMs, reason: payload.reason } : row.retraction,
    })
  }

  /** A token new to this browser: read the list again, once for all tokens that arrive together. */
  #gather(chainId: number): void {
    if (this.#gathering.has(chainId)) return
    this.#gathering.add(chainId)
    setTimeout(() => {
      this.#gathering.delete(chainId)
      if (this.#ending.signal.aborted) return
      this.#loadTokens(chainId).catch(() => this.#gather(chainId))
    }, GATHER_MS)
  }

  #tick(): void {
    this.#received = [...this.#received.slice(-RATE_SECONDS), 0]
    const now = Date.now()
    for (const [chainId, { block, lags, health }] of this.chains) {
      this.#updateHealth(chainId)
      const timeMs = block?.timeMs ?? health?.processed?.block_time_ms
      if (timeMs !== undefined)
        this.#update(chainId, { lags: [...lags.slice(1 - LAG_SAMPLES), Math.max(0, now - timeMs)] })
    }
    this.#touch()
  }

  #update(chainId: number, change: Partial<LiveChain>): void {
    const held = this.chains.get(chainId)
    if (held !== undefined) this.chains.set(chainId, { ...held, ...change })
    this.#touch()
  }

  #touch(): void {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null
      for (const listener of this.#listeners) listener()
    })
  }
}

/** Renders the component again in every frame in which something changed. */
export function useLive(live: Live): Live {
  const [, setTurn] = useState(0)
  useEffect(() => live.subscribe(() => setTurn(turn => turn + 1)), [live])
  return live
}

/** The last health the follower received, or initially that of the service; silence makes it UNAVAILABLE. */
function healthIn(follower: Follower, first: Health | null): Health | null {
  const reported = follower.health ?? first
  const gone = follower.sequence === null ? null : follower.feedGone()
  if (reported === null || gone === null || toGone(reported.status) !== null) return reported
  return { ...reported, status: gone, reasons: [...reported.reasons, 'WORKER_SILENT'] }
}
