/**
 * One chain: feed, market and engine around its steps. Fetch, then verify, then step, then one commit.
 *
 * Every step runs in one lane, in order, and nothing in the lane waits for a node: readings are made beside it and
 * handed in between blocks. A failed step ends the host with the failure, and its supervisor starts another from the
 * last commit.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Input, Policy, State, step } from '@assay/engine'
import type { ChainRpc, Feed, Resume } from '../feed/feed.ts'
import { budgeted } from '../market/callBudget.ts'
import type { Market } from '../market/market.ts'
import { knowingMulticall } from '../market/multicall.ts'
import { inTurn, OWN, RoundRobin } from '../market/roundRobin.ts'
import type { Clock } from '../ops/clock.ts'
import type { ChainConfig, CoverageSource } from '../config/config.ts'
import type { Address } from '../ops/hex.ts'
import type { Log } from '../ops/log.ts'
import type { BackfillStore } from '../store/backfill.ts'
import type { OperatorStore } from '../store/operator.ts'
import type { ChainStore, Sequence } from '../store/port.ts'
import { bootstrap } from './bootstrap.ts'
import type {
  ChainService,
  DecimalsConfirmation,
  Enrolment,
  Narrowing,
  PoolAnswer,
  CostAnswer,
  SaleAnswer,
  SaleSizes,
  TokenAnswer,
} from './chainService.ts'
import type { Stored } from './commitOf.ts'
import { ComputedQuotes } from './readings/computedQuotes.ts'
import { confirmDecimals, type ConfirmContext } from './readings/confirmDecimals.ts'
import { CoverageWatch } from './readings/coverageWatch.ts'
import { Dormancy } from './readings/dormancy.ts'
import { Enrolments } from './readings/enrolments.ts'
import { RequestedReadings } from './readings/requestedReadings.ts'
import { FeedInputs } from './feedInputs.ts'
import { Intake } from './readings/intake.ts'
import { cachedByName } from './readings/cachedByName.ts'
import { LookBacks } from './readings/lookBacks.ts'
import { readLastCommit } from './lastCommit.ts'
import { tokensUnder } from './readings/policyTrial.ts'
import { RecentBlocks } from './recentBlocks.ts'
import { Reload } from './readings/reload.ts'
import { SellWatch } from './readings/sellWatch.ts'
import { Steps } from './steps.ts'
import { Upkeep } from './readings/upkeep.ts'

export type ChainHostOptions = {
  readonly chain: ChainConfig
  readonly policy: Policy
  readonly coverage: readonly CoverageSource[]
  readonly store: ChainStore & Pick<BackfillStore, 'readFoundPools'> & Pick<OperatorStore, 'readIdle'>
  readonly openFeed: (resume: Resume | null) => Promise<Feed>
  readonly openMarket: (rpc: ChainRpc) => Market
  readonly clock: Clock
  readonly log: Log
  readonly onCommitted: (last: Sequence) => void
  /** Wraps the engine's step, for example to time it; left out, the engine's own. */
  readonly step?: typeof step
}

/** How long a chain that starts behind its head waits for its pools; a node may not have such old state. */
const BOOTSTRAP_MS = 20_000
/** Markets kept for recent consumers; beyond this the oldest is dropped. */
const MAX_MARKETS = 256

export async function startChain(options: ChainHostOptions): Promise<ChainHost> {
  const { state, resume, stored } = await readLastCommit(options.store, options.chain, options.policy)
  const feed = await options.openFeed(resume)
  const host = new ChainHost(options, state, feed, stored)
  host.start()
  return host
}

export class ChainHost implements ChainService {
  readonly chainId: number
  /** Settles when the host ends: rejects with its failure, or resolves after `close`. */
  readonly ended: Promise<void>
  readonly #options: ChainHostOptions
  readonly #state: State
  readonly #feed: Feed
  readonly #steps: Steps
  readonly #inputs: FeedInputs
  readonly #abort = new AbortController()
  readonly #enrolments: Enrolments
  readonly #requested: RequestedReadings
  readonly #upkeep: Upkeep
  readonly #quotes: ComputedQuotes
  readonly #reload: Reload
  readonly #confirming: ConfirmContext
  #anchor!: () => void
  #end!: (failure?: unknown) => void
  #isBootstrapped = false

  constructor(options: ChainHostOptions, state: State, feed: Feed, stored: Stored) {
    this.chainId = options.chain.chainId
    this.#options = options
    this.#state = state
    this.#feed = feed
    const rpc = knowingMulticall(feed.rpc)
    const turns = new RoundRobin()
    const market = options.openMarket(inTurn(rpc, turns, OWN))
    this.ended = new Promise((resolve, reject) => {
      this.#end = failure => (failure === undefined ? resolve() : reject(failure))
    })
    const { chain, store, clock, log } = options
    const { signal } = this.#abort
    const onFailure = (failure: unknown) => this.#end(failure)
    this.#steps = new Steps({
      state,
      stored,
      store,
      clock,
      step: options.step,
      onCommitted: (last, { needs }) => {
        options.onCommitted(last)
        this.#requested.note(needs)
        this.#reload.note(needs)
      },
      onFailure,
      signal,
    })
    const apply = (input: Input) => this.#steps.apply(input)
    const inLane = <Result>(task: () => Promise<Result>) => this.#steps.runUntilEnd(task)
    const now = () => this.#steps.now()
    const recent = new RecentBlocks(state)
    const reader = feed.past
    const lookBacks = reader === null ? undefined : new LookBacks({ chain, state, reader, log })
    const intake = new Intake({ state, recent, lookBacks, apply, inLane, now, log })
    const onDemand = budgeted(rpc, clock)
    const common = { state, intake, market, apply, now, signal, log }
    this.#enrolments = new Enrolments({
      ...common,
      marketOf: cachedByName(MAX_MARKETS, consumer => options.openMarket(inTurn(onDemand, turns, consumer))),
      anchored: new Promise(resolve => {
        this.#anchor = resolve
      }),
      inLane,
    })
    this.#requested = new RequestedReadings(common)
    const enrolments = this.#enrolments
    const lastSequence = () => this.#steps.lastSequence
    this.#quotes = new ComputedQuotes({ state, intake, enrolments, inLane, now, lastSequence })
    this.#reload = new Reload({
      ...common,
      chain,
      enrolments,
      requested: this.#requested,
      onReloaded: () => inLane(() => this.#inputs.tellAgain()),
      onFailure,
    })
    this.#confirming = common
    this.#upkeep = new Upkeep({ ...common, clock })
    this.#inputs = new FeedInputs({
      ...common,
      feed,
      recent,
      enrolments,
      reload: this.#reload,
      upkeep: this.#upkeep,
      dormancy: new Dormancy({ chain, state, store, clock, apply }),
      sellWatch:
        feed.simulator === null
          ? undefined
          : new SellWatch({ ...common, chain, clock, store, simulator: feed.simulator }),
      onFailure,
    })
  }

  start(): void {
    this.#consume().then(
      () => this.#end(),
      (failure: unknown) => this.#end(this.#abort.signal.aborted ? undefined : failure),
    )
  }

  async close(): Promise<void> {
    this.#abort.abort()
    this.#steps.stopTimer()
    await this.#feed.close()
    await this.#steps.idle()
  }

  progress(token: string): Promise<Enrolment | null> {
    return Promise.resolve(this.#enrolments.progressOf(token as Address))
  }

  enrol(token: string, consumer = OWN): Promise<Enrolment> {
    return this.#enrolments.ask(token as Address, consumer)
  }

  tokenQuote(
    token: string,
    narrowing: Narrowing | null,
    isVerifiedAnew: boolean,
    consumer = OWN,
  ): Promise<TokenAnswer> {
    return this.#quotes.token(token as Address, narrowing, isVerifiedAnew, consumer)
  }

  poolQuote(
    pool: string,
    deadlineMs: number,
    maxAgeMs: number | null = null,
    consumer = OWN,
  ): Promise<PoolAnswer> {
    return this.#quotes.pool(pool as Address, deadlineMs, maxAgeMs, consumer)
  }

  exit(token: string, sizes: SaleSizes): Promise<SaleAnswer> {
    return this.#quotes.exit(token as Address, sizes)
  }

  cost(token: string, deadlineMs: number): Promise<CostAnswer> {
    return this.#quotes.cost(token as Address, deadlineMs)
  }

  unenrol(token: string): Promise<boolean> {
    return this.#steps.run(async () => {
      const address = token as Address
      if ((this.#state.tokens.get(address)?.enrolledAtMs ?? null) === null) return false
      await this.#steps.apply({
        kind: 'unenrol',
        token: address,
        reason: 'OPERATOR',
        atMs: this.#steps.now(),
      })
      return true
    })
  }

  confirmDecimals(token: string, decimals: number): Promise<DecimalsConfirmation> {
    return confirmDecimals(this.#confirming, token as Address, decimals)
  }

  setPaused(isPaused: boolean): Promise<void> {
    return this.#steps.run(async () => {
      if (this.#state.chain.paused === isPaused) return
      await this.#steps.apply({ kind: 'pause', paused: isPaused, atMs: this.#steps.now() })
      await this.#inputs.tellAgain()
    })
  }

  setPolicy(policy: Policy): Promise<void> {
    return this.#steps.run(async () => {
      if (JSON.stringify(policy) !== JSON.stringify(this.#state.policyView.policy))
        await this.#steps.apply({ kind: 'policy', policy, atMs: this.#steps.now() })
    })
  }

  /** Runs in the lane, on a copy: no step comes between making the copy and comparing it. */
  tryPolicy(policy: Policy): Promise<readonly { readonly token: string; readonly state: string }[]> {
    return this.#steps.run(async () => tokensUnder(this.#state, policy, this.#steps.now()))
  }

  async #consume(): Promise<void> {
    const { signal } = this.#abort
    const isFirst = this.#state.chain.tip === null
    await this.setPolicy(this.#options.policy)
    for await (const item of this.#feed.items(signal)) {
      await this.#steps.run(() => this.#inputs.take(item))
      if (!this.#isBootstrapped && this.#state.chain.tip !== null) {
        this.#isBootstrapped = true
        this.#reload.start()
        const begun = this.#begin().catch((failure: unknown) => {
          if (!signal.aborted) this.#end(failure)
        })
        // Pools are loaded first, so that their history includes the blocks up to the head.
        if (isFirst && (this.#options.chain.startBehindMs ?? 0) > 0)
          await Promise.race([begun, pause(BOOTSTRAP_MS, undefined, { signal, ref: false })])
      }
    }
  }

  #begin(): Promise<void> {
    const { chain, coverage: sources, clock, store, log } = this.#options
    const inLane = (task: () => Promise<void>) => this.#steps.runUntilEnd(task)
    const { signal } = this.#abort
    const apply = (input: Input) => this.#steps.apply(input)
    return bootstrap({
      chain,
      coverage: new CoverageWatch({ sources, state: this.#state, apply, inLane, clock, signal, log }),
      store,
      enrolments: this.#enrolments,
      upkeep: this.#upkeep,
      inLane,
      onAnchored: this.#anchor,
      signal,
      log,
    })
  }
}
