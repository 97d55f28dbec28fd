/**
 * Tokens being enrolled: facts are read, pools found by factory look-up, their state loaded, and the first evaluation
 * made. All reading happens beside the lane.
 *
 * A consumer's tokens are looked up in groups, one after another: the calls of a group are sent together, and a
 * consumer with many tokens delays only itself.
 */
import { type Input, poolsOf, type State, type StepResult } from '@assay/engine'
import { untilAborted } from '../../feed/transport/deadline.ts'
import { isFeedError } from '../../feed/feedError.ts'
import { BudgetSpent } from '../../market/callBudget.ts'
import type { Market } from '../../market/market.ts'
import type { Address } from '../../ops/hex.ts'
import type { Log } from '../../ops/log.ts'
import type { Enrolment, PoolAnswer } from '../chainService.ts'
import type { Intake, Means } from './intake.ts'

type Ms = Input['atMs']
type Elsewhere = NonNullable<Extract<Input, { kind: 'enrol' }>['elsewhere']>

export type EnrolmentContext = {
  readonly state: State
  readonly intake: Intake
  readonly market: Market
  /** The same market over calls that are counted and scheduled per consumer. */
  readonly marketOf: (consumer: string) => Market
  /** Resolves once stables and routing assets are known: no evaluation means anything before. */
  readonly anchored: Promise<void>
  /** Call only inside the lane. */
  readonly apply: (input: Input) => Promise<StepResult>
  readonly inLane: <Result>(task: () => Promise<Result>) => Promise<Result>
  readonly now: () => Ms
  readonly signal: AbortSignal
  readonly log: Log
}

/** Suggested delay before a client asks again. */
const RETRY_AFTER_MS = 1000
/** An enrolment that takes longer is abandoned; the next request starts it again. */
const ENROLMENT_MS = 30_000
/** How long an outcome is kept; a failed look-up may be retried at the next request. */
const FORGET_MS = { RPC_UNAVAILABLE: RETRY_AFTER_MS, EVALUATED: 0 } as const
/** Time to check once more whether the token exists now: a call or two. */
const LOOK_AGAIN_MS = 2500
/** Outcomes kept; beyond this the oldest are dropped. */
const MAX_REMEMBERED = 10_000
/** Tokens looked up together: a few calls with Multicall3, and milliseconds of work for the answers. */
const GROUP = 25
/** Waiting tokens per consumer: some minutes of look-ups. */
const MAX_WAITING = 5000

/** `tip` is the last block at the time of the outcome. */
type Progress = { readonly enrolment: Enrolment; readonly atMs: Ms; readonly tip: string | null }

export class Enrolments {
  readonly #context: EnrolmentContext
  readonly #progress = new Map<Address, Progress>()
  /** Waiting tokens by consumer; an entry exists while any are left. */
  readonly #waiting = new Map<string, Address[]>()
  readonly #arriving = new Set<Address>()

  constructor(context: EnrolmentContext) {
    this.#context = context
  }

  /** Progress of the token, or null when it has not been requested lately. */
  progressOf(token: Address): Enrolment | null {
    const known = this.#context.state.tokens.get(token)
    if (known !== undefined && known.published !== null && known.dormant === null)
      return { state: 'EVALUATED' }
    const before = this.#progress.get(token)
    return before !== undefined && this.#isRemembered(before) ? this.#asOfNow(before) : null
  }

  /**
   * Starts an enrolment, or returns its progress. If an earlier look-up found no token, it is looked up once more
   * before the answer: the caller has already waited, and the token may exist by now.
   */
  async ask(token: Address, consumer: string): Promise<Enrolment> {
    const isStale = this.#progress.get(token)?.enrolment.state === 'TOKEN_UNKNOWN'
    if (!isStale || this.progressOf(token) !== null) return this.enrol(token, consumer)
    try {
      const means = this.within(LOOK_AGAIN_MS, consumer)
      const found = await this.#context.intake.facts([token], means)
      if (!found.has(token)) return this.#set(token, { state: 'TOKEN_UNKNOWN' })
    } catch (failure) {
      if (this.#context.signal.aborted) throw failure
      return this.#giveUp(token, failure)
    }
    this.#progress.delete(token)
    return this.enrol(token, consumer)
  }

  enrol(token: Address, consumer: string): Enrolment {
    const before = this.progressOf(token)
    if (before !== null) return before
    const line = this.#waiting.get(consumer)
    if (line !== undefined && line.length >= MAX_WAITING)
      return { state: 'BUDGET_EXCEEDED', retryAfterMs: RETRY_AFTER_MS }
    if (line === undefined) {
      this.#waiting.set(consumer, [token])
      // The rest of a batch arrives in the same turn and joins the group.
      setImmediate(() => void this.#enrolWaiting(consumer))
    } else line.push(token)
    return this.#set(token, { state: 'PENDING', stage: 'DISCOVERY', retryAfterMs: RETRY_AFTER_MS })
  }

  /** Being enrolled: its pools are being looked up at a block that may no longer be the last. */
  isArriving(token: Address): boolean {
    return this.#arriving.has(token)
  }

  /** Enrols tokens of the configuration and requested ones; state they need is read together. */
  async enrolNow(tokens: readonly Address[], means: Means = this.#own()): Promise<void> {
    // Marked before the look-up: a look-up at a block cannot find a pool that a later block creates.
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
    const elsewhere = await this.#elsewhere([...known], means)
    for (const token of tokens) {
      if (!known.has(token)) {
        this.#set(token, { state: 'TOKEN_UNKNOWN' })
        continue
      }
      this.#set(token, { state: 'PENDING', stage: 'EVALUATION', retryAfterMs: RETRY_AFTER_MS })
      const found = elsewhere.get(token)
      const added = found === undefined ? {} : { elsewhere: found }
      await inLane(() => apply({ kind: 'enrol', token, ...added, atMs: now() }))
      this.#set(token, { state: 'EVALUATED' })
    }
  }

  /** Pools of unpriced families, for those of these tokens that have no other pool. */
  async #elsewhere(tokens: readonly Address[], means: Means): Promise<ReadonlyMap<Address, Elsewhere>> {
    const { intake, state } = this.#context
    const bare = tokens.filter(token => poolsOf(state, token).length === 0)
    if (bare.length === 0) return new Map()
    const { market, signal } = means
    const found = await intake.read(means, block =>
      Promise.all(bare.map(token => market.elsewhere(token, block, signal))),
    )
    return new Map(bare.map((token, at) => [token, found[at] ?? []]))
  }

  /** Reads facts and loads pools of these addresses; returns those that are tokens. */
  async know(tokens: readonly Address[], means: Means = this.#own()): Promise<ReadonlySet<Address>> {
    const { intake, state } = this.#context
    const { market, signal } = means
    const [pools, known] = await Promise.all([
      intake.read(means, block => Promise.all(tokens.map(token => market.discover(token, block, signal)))),
      intake.facts(tokens, means),
    ])
    const found = tokens.flatMap((token, at) => (known.has(token) ? (pools[at] ?? []) : []))
    // A pool of two of these tokens was found twice.
    const unread = new Map(found.map(pool => [pool.address, pool]))
    await intake.pools(
      [...unread.values()].filter(({ address }) => !state.pools.has(address)),
      means,
    )
    return known
  }

  /** Loads the pools of the configuration; returns those that no listed factory confirms, with the reason. */
  async knowPools(pools: readonly Address[]): Promise<ReadonlyMap<Address, string>> {
    const { intake, state } = this.#context
    const means = this.#own()
    const unknown = [...new Set(pools)].filter(pool => !state.pools.has(pool))
    const { market, signal } = means
    const identities = await intake.read(means, block =>
      Promise.all(unknown.map(pool => market.identify(pool, block, signal))),
    )
    await intake.pools(
      identities.flatMap(identity => (identity.kind === 'pool' ? [identity.pool] : [])),
      means,
    )
    const none = unknown.flatMap((pool, at) => {
      const kind = identities[at]?.kind
      return kind === undefined || kind === 'pool' ? [] : [[pool, kind] as const]
    })
    return new Map(none)
  }

  /**
   * Loads a pool that a consumer requested by address, provided that a listed factory confirms it before the deadline.
   */
  async lookUpPool(pool: Address, deadlineMs: number, consumer: string): Promise<PoolAnswer> {
    const { intake, anchored } = this.#context
    const means = this.within(deadlineMs, consumer)
    try {
      await untilAborted(anchored, means.signal)
      const { market, signal } = means
      const identity = await intake.read(means, block => market.identify(pool, block, signal))
      if (identity.kind === 'not_a_pool') return { outcome: 'not_a_pool' }
      if (identity.kind === 'unsupported') return { outcome: 'not_supported', reason: unsupported(identity) }
      await intake.pools([identity.pool], means)
      return { outcome: 'quote', quote: '' }
    } catch (failure) {
      if (isFeedError(failure)) return { outcome: 'rpc_unavailable', reason: failure.message }
      if (failure instanceof BudgetSpent)
        return { outcome: 'budget_exceeded', retryAfterMs: failure.retryAfterMs }
      if (means.signal.aborted && !this.#context.signal.aborted) return { outcome: 'too_late' }
      throw failure
    }
  }

  /** Counted calls of a consumer, limited by the deadline. */
  within(deadlineMs: number, consumer: string): Means {
    const signal = AbortSignal.any([this.#context.signal, AbortSignal.timeout(deadlineMs)])
    return { market: this.#context.marketOf(consumer), signal }
  }

  /** Enrols group after group until the consumer has no waiting tokens. */
  async #enrolWaiting(consumer: string): Promise<void> {
    for (;;) {
      const group = this.#waiting.get(consumer)?.splice(0, GROUP) ?? []
      if (group.length === 0) break
      await this.#enrolGroup(group, consumer)
    }
    this.#waiting.delete(consumer)
  }

  /** If a token of the group cannot be read, the halves are tried separately, so that it does not block the others. */
  async #enrolGroup(tokens: readonly Address[], consumer: string): Promise<void> {
    try {
      const means = this.within(ENROLMENT_MS, consumer)
      await untilAborted(this.#context.anchored, means.signal)
      await this.enrolNow(tokens, means)
    } catch (failure) {
      if (this.#context.signal.aborted) return
      const left = tokens.filter(token => this.#progress.get(token)?.enrolment.state === 'PENDING')
      if (isFeedError(failure) && failure.code !== 'NO_ENDPOINT' && left.length > 1) {
        const middle = Math.ceil(left.length / 2)
        await this.#enrolGroup(left.slice(0, middle), consumer)
        await this.#enrolGroup(left.slice(middle), consumer)
      } else for (const token of left) this.#giveUp(token, failure)
    }
  }

  #giveUp(token: Address, failure: unknown): Enrolment {
    if (failure instanceof BudgetSpent)
      return this.#set(token, { state: 'BUDGET_EXCEEDED', retryAfterMs: failure.retryAfterMs })
    this.#context.log.warn('a token could not be enrolled', { token_address: token, error: String(failure) })
    return this.#set(token, { state: 'RPC_UNAVAILABLE' })
  }

  #own(): Means {
    return { market: this.#context.market, signal: this.#context.signal }
  }

  #isRemembered({ enrolment, atMs, tip }: Progress): boolean {
    if (enrolment.state === 'PENDING') return true
    // The next block may deploy the token.
    if (enrolment.state === 'TOKEN_UNKNOWN') return tip === this.#tip()
    const forMs = enrolment.state === 'BUDGET_EXCEEDED' ? enrolment.retryAfterMs : FORGET_MS[enrolment.state]
    return this.#context.now() - atMs < forMs
  }

  /** Reduces a wait by the time that has passed. */
  #asOfNow({ enrolment, atMs }: Progress): Enrolment {
    if (enrolment.state !== 'BUDGET_EXCEEDED') return enrolment
    return { ...enrolment, retryAfterMs: enrolment.retryAfterMs - (this.#context.now() - atMs) }
  }

  #tip(): string | null {
    return this.#context.state.chain.tip?.hash ?? null
  }

  #set(token: Address, enrolment: Enrolment): Enrolment {
    // Reinserted, so that the first entry is always the least recently used.
    this.#progress.delete(token)
    this.#progress.set(token, { enrolment, atMs: this.#context.now(), tip: this.#tip() })
    const [oldest] = this.#progress.keys()
    if (this.#progress.size > MAX_REMEMBERED && oldest !== undefined) this.#progress.delete(oldest)
    return enrolment
  }
}

const unsupported = ({ factory, family }: { readonly factory: Address; readonly family: string | null }) =>
  family === null
    ? `factory ${factory} is not listed`
    : `factory ${factory} makes ${family} pools, a family that is not priced`
