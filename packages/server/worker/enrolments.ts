/**
 * Tokens on their way in: facts read, pools found by factory look-up, their state loaded at the tip, and the
 * first evaluation. Also whatever the engine says it needs from the chain.
 *
 * Loading runs in the lane, so the tip it was read at is still the tip when the engine takes it.
 */
import { count, type Input, ms, type State, type StepResult } from '@assay/engine'
import type { Market } from '../market/market.ts'
import type { Address } from '../ops/config.ts'
import type { Log } from '../ops/log.ts'
import type { Enrolment, PoolAnswer } from './chainService.ts'

type Ms = Input['atMs']

export type EnrolmentContext = {
  readonly state: State
  readonly market: Market
  /** Only inside the lane. */
  readonly apply: (input: Input) => Promise<StepResult>
  readonly inLane: <Result>(task: () => Promise<Result>) => Promise<Result>
  readonly now: () => Ms
  readonly signal: AbortSignal
  readonly log: Log
}

/** Asked again after this long. */
const RETRY_AFTER_MS = 1000
/** How long a look-up that found nothing is remembered. */
const FORGET_MS = 60_000

type Progress = { readonly enrolment: Enrolment; readonly atMs: Ms }

export class Enrolments {
  readonly #context: EnrolmentContext
  readonly #progress = new Map<Address, Progress>()
  readonly #reloads = new Set<Address>()
  #isReloading = false

  constructor(context: EnrolmentContext) {
    this.#context = context
  }

  enrol(token: Address): Enrolment {
    const known = this.#context.state.tokens.get(token)
    if (known !== undefined && known.published !== null && known.dormant === null)
      return { state: 'EVALUATED' }
    const before = this.#progress.get(token)
    const isFresh =
      before !== undefined &&
      (before.enrolment.state === 'PENDING' || this.#context.now() - before.atMs < FORGET_MS)
    if (isFresh) return before.enrolment
    this.enrolNow(token).catch((failure: unknown) => {
      if (this.#context.signal.aborted) return
      this.#context.log.warn('a token could not be enrolled', {
        token_address: token,
        error: String(failure),
      })
      this.#set(token, { state: 'RPC_UNAVAILABLE' })
    })
    return this.#set(token, { state: 'PENDING', stage: 'DISCOVERY', retryAfterMs: RETRY_AFTER_MS })
  }

  /** The whole way in, for tokens of the configuration and for those asked for. */
  async enrolNow(token: Address): Promise<void> {
    this.#set(token, { state: 'PENDING', stage: 'DISCOVERY', retryAfterMs: RETRY_AFTER_MS })
    if (!(await this.know(token))) {
      this.#set(token, { state: 'TOKEN_UNKNOWN' })
      return
    }
    this.#set(token, { state: 'PENDING', stage: 'EVALUATION', retryAfterMs: RETRY_AFTER_MS })
    await this.#context.inLane(() => this.#context.apply({ kind: 'enrol', token, atMs: this.#context.now() }))
    this.#set(token, { state: 'EVALUATED' })
  }

  /** Reads a token's facts and loads its pools; false when there is no such token. */
  async know(token: Address): Promise<boolean> {
    const { inLane, market, signal, state, apply, now } = this.#context
    const found = await market.discover(token, this.#tip(), signal)
    return inLane(async () => {
      const tip = this.#tip()
      if ((state.tokens.get(token)?.decimals ?? null) === null) {
        const facts = await market.readToken(token, tip, signal)
        if (facts === null) return false
        await apply({ kind: 'token_facts', block: tip, facts: [facts], atMs: now() })
      }
      await this.#load(found.filter(pool => !state.pools.has(pool.address)))
      return true
    })
  }

  /** A pool asked for by address: accepted only when a listed factory answers for it. */
  async lookUpPool(pool: Address): Promise<PoolAnswer> {
    const { market, signal, inLane } = this.#context
    try {
      const identity = await market.identify(pool, this.#tip(), signal)
      if (identity.kind === 'not_a_pool') return { outcome: 'not_a_pool' }
      if (identity.kind === 'unsupported')
        return { outcome: 'not_supported', reason: `factory ${identity.factory} is not listed` }
      for (const token of [identity.pool.token0, identity.pool.token1]) await this.#readFacts(token)
      await inLane(() => this.#load([identity.pool]))
      return { outcome: 'quote', quote: '' }
    } catch (failure) {
      if (failure instanceof Error && failure.name === 'FeedError')
        return { outcome: 'rpc_unavailable', reason: failure.message }
      throw failure
    }
  }

  /** What a step asked for. */
  note(needs: StepResult['needs']): void {
    for (const need of needs) if (need.kind === 'load') this.#reloads.add(need.pool)
    const missing = needs.flatMap(need => (need.kind === 'token_facts' ? [need.token] : []))
    if ((this.#reloads.size === 0 && missing.length === 0) || this.#isReloading) return
    this.#isReloading = true
    this.#tend(missing)
      .catch((failure: unknown) =>
        this.#context.log.warn('a pool could not be loaded again', { error: String(failure) }),
      )
      .finally(() => {
        this.#isReloading = false
      })
  }

  async #tend(missing: readonly Address[]): Promise<void> {
    for (const token of missing) await this.#readFacts(token)
    const { market, signal, state, inLane } = this.#context
    for (const address of [...this.#reloads]) {
      this.#reloads.delete(address)
      const identity = await market.identify(address, this.#tip(), signal)
      if (
        identity.kind === 'pool' &&
        (state.pools.has(address) || identity.pool.token0 !== identity.pool.token1)
      )
        await inLane(() => this.#load([identity.pool]))
    }
  }

  #readFacts(token: Address): Promise<void> {
    const { inLane, market, signal, state, apply, now } = this.#context
    return inLane(async () => {
      if ((state.tokens.get(token)?.decimals ?? null) !== null) return
      const tip = this.#tip()
      const facts = await market.readToken(token, tip, signal)
      if (facts !== null) await apply({ kind: 'token_facts', block: tip, facts: [facts], atMs: now() })
    })
  }

  /** In the lane: the state at the tip, for pools a factory answered for. */
  async #load(pools: Parameters<Market['load']>[0]): Promise<void> {
    if (pools.length === 0) return
    const { market, signal, apply, now, log } = this.#context
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

  #set(token: Address, enrolment: Enrolment): Enrolment {
    this.#progress.set(token, { enrolment, atMs: this.#context.now() })
    return enrolment
  }
}
