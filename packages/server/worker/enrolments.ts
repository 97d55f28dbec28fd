/**
 * Tokens on their way in: facts read, pools found by factory look-up, their state loaded at the tip, and the
 * first evaluation. Also whatever the engine says it needs from the chain.
 *
 * Loading runs in the lane, so the tip it was read at is still the tip when the engine takes it.
 */
import { count, type Input, ms, type State, type StepResult } from '@assay/engine'
import { untilAborted } from '../feed/deadline.ts'
import { isFeedError } from '../feed/feedError.ts'
import type { Market } from '../market/market.ts'
import type { Address } from '../ops/config.ts'
import type { Log } from '../ops/log.ts'
import type { Enrolment, PoolAnswer } from './chainService.ts'

type Ms = Input['atMs']

export type EnrolmentContext = {
  readonly state: State
  readonly market: Market
  /** The same market over calls that are counted: for what is asked from outside. */
  readonly onDemand: Market
  /** Stables and routing assets are known: before that no evaluation means anything. */
  readonly anchored: Promise<void>
  /** Only inside the lane. */
  readonly apply: (input: Input) => Promise<StepResult>
  readonly inLane: <Result>(task: () => Promise<Result>) => Promise<Result>
  readonly now: () => Ms
  readonly signal: AbortSignal
  readonly log: Log
}

/** Asked again after this long. */
const RETRY_AFTER_MS = 1000
/** A token that is not in by then is asked for anew with the next question. */
const ENROLMENT_MS = 30_000
/** How long a look-up that found nothing is remembered; one that failed may be tried again with the next question. */
const FORGET_MS = { TOKEN_UNKNOWN: 60_000, RPC_UNAVAILABLE: RETRY_AFTER_MS, EVALUATED: 0 } as const
/** Answers remembered at most; beyond that the oldest are forgotten. */
const MAX_REMEMBERED = 10_000

/** Over which calls, and until when. */
type Means = { readonly market: Market; readonly signal: AbortSignal }
type Progress = { readonly enrolment: Enrolment; readonly atMs: Ms }

export class Enrolments {
  readonly #context: EnrolmentContext
  readonly #progress = new Map<Address, Progress>()
  /** What the engine asked for and has not got yet. */
  readonly #reloads = new Set<Address>()
  readonly #missing = new Set<Address>()
  readonly #arriving = new Set<Address>()
  #isTending = false

  constructor(context: EnrolmentContext) {
    this.#context = context
  }

  enrol(token: Address): Enrolment {
    const known = this.#context.state.tokens.get(token)
    if (known !== undefined && known.published !== null && known.dormant === null)
      return { state: 'EVALUATED' }
    const before = this.#progress.get(token)
    if (before !== undefined && this.#isRemembered(before)) return before.enrolment
    this.#enrolAsked(token).catch((failure: unknown) => {
      if (this.#context.signal.aborted) return
      this.#context.log.warn('a token could not be enrolled', {
        token_address: token,
        error: String(failure),
      })
      this.#set(token, { state: 'RPC_UNAVAILABLE' })
    })
    return this.#set(token, { state: 'PENDING', stage: 'DISCOVERY', retryAfterMs: RETRY_AFTER_MS })
  }

  /** On its way in: its pools are being looked up as of a block that may no longer be the last. */
  isArriving(token: Address): boolean {
    return this.#arriving.has(token)
  }

  /** The whole way in, for tokens of the configuration and for those asked for; what they need is read together. */
  async enrolNow(tokens: readonly Address[], means: Means = this.#own()): Promise<void> {
    // From before the look-up on: no look-up at a block finds a pool that a later block makes.
    for (const token of tokens) this.#arriving.add(token)
    try {
      await this.#enrol(tokens, means)
    } finally {
      for (const token of tokens) this.#arriving.delete(token)
    }
  }

  async #enrol(tokens: readonly Address[], means: Means): Promise<void> {
    const { apply, inLane, now } = this.#context
    for (const token of tokens)
      this.#set(token, { state: 'PENDING', stage: 'DISCOVERY', retryAfterMs: RETRY_AFTER_MS })
    const known = await this.know(tokens, means)
    for (const token of tokens) {
      if (!known.has(token)) {
        this.#set(token, { state: 'TOKEN_UNKNOWN' })
        continue
      }
      this.#set(token, { state: 'PENDING', stage: 'EVALUATION', retryAfterMs: RETRY_AFTER_MS })
      await inLane(() => apply({ kind: 'enrol', token, atMs: now() }))
      this.#set(token, { state: 'EVALUATED' })
    }
  }

  /** Reads the facts of tokens and loads their pools; which of them are tokens. */
  async know(tokens: readonly Address[], means: Means = this.#own()): Promise<ReadonlySet<Address>> {
    const { inLane, state } = this.#context
    const { market, signal } = means
    const tip = this.#tip()
    const pools = await Promise.all(tokens.map(token => market.discover(token, tip, signal)))
    return inLane(async () => {
      signal.throwIfAborted()
      const known = await this.#readFacts(tokens, means)
      const found = tokens.flatMap((token, at) => (known.has(token) ? (pools[at] ?? []) : []))
      // A pool of two of these tokens was found twice.
      const unread = new Map(found.map(pool => [pool.address, pool]))
      await this.#load(
        [...unread.values()].filter(pool => !state.pools.has(pool.address)),
        means,
      )
      return known
    })
  }

  /**
   * A pool asked for by address: accepted only when a listed factory answers for it. With a deadline it is a question
   * from outside, and ends with it.
   */
  async lookUpPool(pool: Address, deadlineMs: number | null): Promise<PoolAnswer> {
    const { inLane, anchored } = this.#context
    const means = deadlineMs === null ? this.#own() : this.#within(deadlineMs)
    try {
      await untilAborted(anchored, means.signal)
      const identity = await means.market.identify(pool, this.#tip(), means.signal)
      if (identity.kind === 'not_a_pool') return { outcome: 'not_a_pool' }
      if (identity.kind === 'unsupported')
        return { outcome: 'not_supported', reason: `factory ${identity.factory} is not listed` }
      await inLane(async () => {
        means.signal.throwIfAborted()
        await this.#load([identity.pool], means)
      })
      return { outcome: 'quote', quote: '' }
    } catch (failure) {
      if (isFeedError(failure)) return { outcome: 'rpc_unavailable', reason: failure.message }
      if (means.signal.aborted && !this.#context.signal.aborted) return { outcome: 'too_late' }
      throw failure
    }
  }

  /** The state of pools that are known already, read again together. */
  load(pools: Parameters<Market['load']>[0]): Promise<void> {
    return this.#context.inLane(() => this.#load(pools, this.#own()))
  }

  /** What a step asked for. It is kept until it is got: a step asks once. */
  note(needs: StepResult['needs']): void {
    for (const need of needs)
      if (need.kind === 'load' && need.why === 'REBASED') continue
      else if (need.kind === 'load') this.#reloads.add(need.pool)
      else this.#missing.add(need.token)
    if (this.#isTending || (this.#reloads.size === 0 && this.#missing.size === 0)) return
    this.#isTending = true
    this.#tend()
      .catch((failure: unknown) => {
        if (!this.#context.signal.aborted)
          this.#context.log.warn('a pool could not be loaded again yet', { error: String(failure) })
      })
      .finally(() => {
        this.#isTending = false
      })
  }

  async #enrolAsked(token: Address): Promise<void> {
    const means = this.#within(ENROLMENT_MS)
    await untilAborted(this.#context.anchored, means.signal)
    await this.enrolNow([token], means)
  }

  #own(): Means {
    return { market: this.#context.market, signal: this.#context.signal }
  }

  /** Counted calls, and no longer than this. */
  #within(deadlineMs: number): Means {
    const signal = AbortSignal.any([this.#context.signal, AbortSignal.timeout(deadlineMs)])
    return { market: this.#context.onDemand, signal }
  }

  async #tend(): Promise<void> {
    const { market, signal, inLane } = this.#context
    for (const token of this.#missing) {
      await inLane(() => this.#readFacts([token], this.#own()))
      this.#missing.delete(token)
    }
    for (const address of this.#reloads) {
      const identity = await market.identify(address, this.#tip(), signal)
      // From here on a further need of the same pool is a new one.
      this.#reloads.delete(address)
      if (identity.kind === 'pool') await inLane(() => this.#load([identity.pool], this.#own()))
    }
  }

  /** In the lane; which of them are tokens. */
  async #readFacts(tokens: readonly Address[], { market, signal }: Means): Promise<ReadonlySet<Address>> {
    const { state, apply, now } = this.#context
    const isUnread = (token: Address) => (state.tokens.get(token)?.decimals ?? null) === null
    const unread = [...new Set(tokens)].filter(isUnread)
    const tip = this.#tip()
    const read = await Promise.all(unread.map(token => market.readToken(token, tip, signal)))
    const facts = read.filter(each => each !== null)
    if (facts.length > 0) await apply({ kind: 'token_facts', block: tip, facts, atMs: now() })
    const unknown = new Set(unread.filter((_, at) => read[at] === null))
    return new Set(tokens.filter(token => !unknown.has(token)))
  }

  /**
   * In the lane: the state at the tip, for pools a factory answered for. Decimals of both sides come first: a pool's
   * first record stays until it changes, and without them it would show nothing.
   */
  async #load(pools: Parameters<Market['load']>[0], means: Means): Promise<void> {
    if (pools.length === 0) return
    const { market, signal } = means
    const { apply, now, log } = this.#context
    await this.#readFacts(
      pools.flatMap(({ token0, token1 }) => [token0, token1]),
      means,
    )
    const tip = this.#tip()
    const { loaded, failed } = await market.load(pools, tip, signal)
    for (const { pool, reason } of failed)
      log.warn('a pool could not be read', { pool_address: pool, reason })
    if (loaded.length > 0) await apply({ kind: 'load', block: tip, pools: loaded, atMs: now() })
  }

  #tip() {
    const { tip } = this.#context.state.chain
    if (tip === null) throw new Error('no block has been seen yet')
    return { number: count(tip.number), hash: tip.hash, timeMs: ms(tip.timeMs) }
  }

  #isRemembered({ enrolment, atMs }: Progress): boolean {
    return enrolment.state === 'PENDING' || this.#context.now() - atMs < FORGET_MS[enrolment.state]
  }

  #set(token: Address, enrolment: Enrolment): Enrolment {
    // Entered anew, so that the first is always the one not spoken of for longest.
    this.#progress.delete(token)
    this.#progress.set(token, { enrolment, atMs: this.#context.now() })
    const [oldest] = this.#progress.keys()
    if (this.#progress.size > MAX_REMEMBERED && oldest !== undefined) this.#progress.delete(oldest)
    return enrolment
  }
}
