/**
 * One chain: feed, market and engine around a commit loop. Fetch, then verify, then step, then one commit;
 * only then is anything of the step visible to anyone.
 *
 * Every step runs in one lane, in order, and nothing in the lane waits for a node: readings are made beside it and
 * handed in between blocks. A commit that fails leaves the state ahead of the store, so the host ends with the failure
 * and its keeper starts another from the last commit.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { count, type Input, ms, type Policy, type State, step, type StepResult } from '@assay/engine'
import type { BlockRef, ChainRpc, Feed, FeedItem, HealthRecord, Resume, VerifiedBlock } from '../feed/feed.ts'
import { budgeted } from '../market/callBudget.ts'
import type { Market } from '../market/market.ts'
import { knowingMulticall } from '../market/multicall.ts'
import { inTurn, OWN, Turns } from '../market/turns.ts'
import type { Clock } from '../ops/clock.ts'
import type { Address, ChainConfig, CoverageSource } from '../ops/config.ts'
import type { Log } from '../ops/log.ts'
import type { BackfillStore } from '../store/backfill.ts'
import type { OperatorStore } from '../store/operator.ts'
import type { ChainStore, Sequence } from '../store/port.ts'
import { bootstrap } from './bootstrap.ts'
import type { ChainService, Enrolment, Narrowing, PoolAnswer, TokenAnswer } from './chainService.ts'
import { commitOf, type Stored } from './commitOf.ts'
import { ComputedQuotes } from './computedQuotes.ts'
import { CoverageWatch } from './coverageWatch.ts'
import { Dormancy } from './dormancy.ts'
import { Enrolments } from './enrolments.ts'
import { Intake } from './intake.ts'
import { Lane } from './lane.ts'
import { readLastCommit } from './lastCommit.ts'
import { tokensUnder } from './policyTrial.ts'
import { RecentBlocks } from './recentBlocks.ts'
import { Reload } from './reload.ts'
import { healthAtHead, toldHealth } from './toldHealth.ts'
import { Upkeep } from './upkeep.ts'

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
  /** The engine's, if nobody stands before it. */
  readonly step?: typeof step
}

/** How long a chain that begins behind its head waits for its pools; a node may not have so old a state. */
const BOOTSTRAP_MS = 20_000
/** The longest wait for a timer; a longer one is asked for again. */
const MAX_TIMER_MS = 60_000
/** Markets kept for consumers that asked lately; beyond that the oldest is dropped. */
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
  /** Settles when the host ends: with the failure that ended it, or quietly after `close`. */
  readonly ended: Promise<void>
  readonly #options: ChainHostOptions
  readonly #state: State
  readonly #feed: Feed
  readonly #market: Market
  readonly #stored: Stored
  readonly #lane = new Lane()
  readonly #recent: RecentBlocks
  readonly #intake: Intake
  readonly #abort = new AbortController()
  readonly #enrolments: Enrolments
  readonly #upkeep: Upkeep
  readonly #quotes: ComputedQuotes
  readonly #reload: Reload
  readonly #dormancy: Dormancy
  #anchor!: () => void
  #end!: (failure?: unknown) => void
  #timer: NodeJS.Timeout | null = null
  #isBootstrapped = false
  #lastSequence: Sequence = 0
  /** As the feed last said it. */
  #health: HealthRecord | null = null

  constructor(options: ChainHostOptions, state: State, feed: Feed, stored: Stored) {
    this.chainId = options.chain.chainId
    this.#options = options
    this.#state = state
    this.#feed = feed
    const rpc = knowingMulticall(feed.rpc)
    const turns = new Turns()
    this.#market = options.openMarket(inTurn(rpc, turns, OWN))
    this.#stored = stored
    this.ended = new Promise((resolve, reject) => {
      this.#end = failure => (failure === undefined ? resolve() : reject(failure))
    })
    const { chain, store, clock, log } = options
    const apply = (input: Input) => this.#apply(input)
    const inLane = <Result>(task: () => Promise<Result>) => this.#inLane(task)
    const now = () => this.#now()
    const { signal } = this.#abort
    this.#recent = new RecentBlocks(state)
    this.#intake = new Intake({ state, recent: this.#recent, apply, inLane, now, log })
    const onDemand = budgeted(rpc, clock)
    const common = { state, intake: this.#intake, market: this.#market, apply, now, signal, log }
    this.#enrolments = new Enrolments({
      ...common,
      marketOf: keptByName(MAX_MARKETS, consumer => options.openMarket(inTurn(onDemand, turns, consumer))),
      anchored: new Promise(resolve => {
        this.#anchor = resolve
      }),
      inLane,
    })
    this.#quotes = new ComputedQuotes({
      state,
      intake: this.#intake,
      enrolments: this.#enrolments,
      inLane,
      now,
      lastSequence: () => this.#lastSequence,
    })
    this.#reload = new Reload({
      ...common,
      chain,
      enrolments: this.#enrolments,
      onReloaded: () => this.#inLane(() => this.#tellAgain()),
      onFailure: failure => this.#end(failure),
    })
    this.#dormancy = new Dormancy({ chain, state, store, clock, apply })
    this.#upkeep = new Upkeep({ ...common, clock })
  }

  start(): void {
    this.#consume().then(
      () => this.#end(),
      (failure: unknown) => this.#end(this.#abort.signal.aborted ? undefined : failure),
    )
  }

  async close(): Promise<void> {
    this.#abort.abort()
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#feed.close()
    await this.#lane.idle()
  }

  progress(token: string): Promise<Enrolment | null> {
    return Promise.resolve(this.#enrolments.progressOf(token as Address))
  }

  enrol(token: string, consumer = OWN): Promise<Enrolment> {
    return Promise.resolve(this.#enrolments.enrol(token as Address, consumer))
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

  unenrol(token: string): Promise<boolean> {
    return this.#lane.run(async () => {
      const address = token as Address
      if ((this.#state.tokens.get(address)?.enrolledAtMs ?? null) === null) return false
      await this.#apply({ kind: 'unenrol', token: address, reason: 'OPERATOR', atMs: this.#now() })
      return true
    })
  }

  setPaused(isPaused: boolean): Promise<void> {
    return this.#lane.run(async () => {
      if (this.#state.chain.paused === isPaused) return
      await this.#apply({ kind: 'pause', paused: isPaused, atMs: this.#now() })
      await this.#tellAgain()
    })
  }

  setPolicy(policy: Policy): Promise<void> {
    return this.#lane.run(async () => {
      if (JSON.stringify(policy) !== JSON.stringify(this.#state.policyView.policy))
        await this.#apply({ kind: 'policy', policy, atMs: this.#now() })
    })
  }

  /** In the lane, on a copy: no step comes between what is copied and what is compared with it. */
  tryPolicy(policy: Policy): Promise<readonly { readonly token: string; readonly state: string }[]> {
    return this.#lane.run(async () => tokensUnder(this.#state, policy, this.#now()))
  }

  async #consume(): Promise<void> {
    const { signal } = this.#abort
    const isFirst = this.#state.chain.tip === null
    await this.setPolicy(this.#options.policy)
    for await (const item of this.#feed.items(signal)) {
      await this.#lane.run(() => this.#take(item))
      if (!this.#isBootstrapped && this.#state.chain.tip !== null) {
        this.#isBootstrapped = true
        this.#reload.start()
        const begun = this.#begin().catch((failure: unknown) => {
          if (!signal.aborted) this.#end(failure)
        })
        // Pools are loaded first, so that what the blocks up to the head did to them is part of their history.
        if (isFirst && (this.#options.chain.startBehindMs ?? 0) > 0)
          await Promise.race([begun, pause(BOOTSTRAP_MS, undefined, { signal, ref: false })])
      }
    }
  }

  #begin(): Promise<void> {
    const { chain, coverage: sources, clock, store, log } = this.#options
    const inLane = (task: () => Promise<void>) => this.#inLane(task)
    const { signal } = this.#abort
    const apply = (input: Input) => this.#apply(input)
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

  async #take(item: FeedItem): Promise<void> {
    switch (item.kind) {
      case 'block': {
        const block = this.#decoded(item.block, new Set())
        const applied = this.#apply({ kind: 'block', block, atMs: this.#now() })
        this.#recent.append(block)
        await applied
        return this.#settled(item.block, [item.block])
      }
      case 'reorg': {
        // A pool made in one block of the branch is not in the state yet when the next one speaks of it.
        const born = new Set<Address>()
        const { ancestor } = item
        const blocks = item.blocks.map(block => this.#decoded(block, born))
        const applied = this.#apply({ kind: 'reorg', ancestor, blocks, atMs: this.#now() })
        this.#recent.replace(ancestor, blocks)
        await applied
        this.#reload.reorganised()
        if (this.#reload.isRebasing) await this.#tellAgain()
        const tip = item.blocks.at(-1)
        return tip === undefined ? undefined : this.#settled(tip, item.blocks, { isReorg: true })
      }
      case 'rebase':
        await this.#rebase(item)
        return this.#feed.processed(refOf(item.block))
      case 'finalize':
        await this.#apply({
          kind: 'finalize',
          number: count(item.number),
          hash: item.hash,
          atMs: this.#now(),
        })
        return
      case 'health':
        this.#health = item.record
        await this.#tellHealth(item.record)
        await this.#dormancy.tend()
    }
  }

  /** What the feed said last, as it is to be said now. */
  async #tellAgain(): Promise<void> {
    if (this.#health !== null) await this.#tellHealth(this.#health)
  }

  async #tellHealth(record: HealthRecord): Promise<void> {
    const { chain, gaps } = this.#state
    const nowMs = this.#now()
    const { isRebasing } = this.#reload
    const view = { isPaused: chain.paused, isRebasing, gap: gaps.at(-1), nowMs }
    await this.#apply({ kind: 'health', health: toldHealth(record, view), atMs: nowMs })
  }

  /** Starts again at the head: what was known before is read again, and its blocks are named as a gap. */
  async #rebase({ block, ancestor }: Extract<FeedItem, { kind: 'rebase' }>): Promise<void> {
    const { tip, finalized, paused } = this.#state.chain
    const nowMs = this.#now()
    const gap = { fromBlock: count(ancestor.number + 1), toBlock: count(block.number), atMs: nowMs }
    this.#reload.rebased()
    this.#recent.restart({ ...block, timeMs: ms(block.timeMs) })
    const record = healthAtHead(this.chainId, block, finalized, this.#health, nowMs)
    await this.#apply({
      kind: 'rebase_head',
      block: { number: count(block.number), hash: block.hash, timeMs: ms(block.timeMs) },
      ancestor: ancestor.hash,
      health: toldHealth(record, { isPaused: paused, isRebasing: true, gap, nowMs }),
      atMs: nowMs,
    })
    this.#options.log.warn(
      'after a long stop the chain starts again at its head; the blocks between are not followed',
      {
        chain_id: this.chainId,
        from_block: gap.fromBlock,
        to_block: gap.toBlock,
        is_last_block_still_canonical: tip?.hash === ancestor.hash,
      },
    )
    this.#reload.start()
  }

  /** The block is committed: tell the feed, then see what has to be read that blocks do not say. */
  #settled(
    block: VerifiedBlock,
    blocks: readonly VerifiedBlock[],
    kind?: { readonly isReorg: boolean },
  ): void {
    this.#feed.processed(refOf(block))
    this.#upkeep.tend(blocks, kind).catch((failure: unknown) => {
      if (!this.#abort.signal.aborted) this.#end(failure)
    })
  }

  /** Between two blocks. What waited for a node meanwhile may come back after the end. */
  #inLane<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#lane.run(() => {
      this.#abort.signal.throwIfAborted()
      return task()
    })
  }

  /** `born` are pools made earlier in the same input, and gets those made in this block. */
  #decoded(block: VerifiedBlock, born: Set<Address>): Extract<Input, { kind: 'block' }>['block'] {
    const { pools, tokens, setup } = this.#state
    const isAnchor = (token: Address) =>
      setup.routingAssets.includes(token) || setup.stables.some(stable => stable.token === token)
    const isWanted = (token: Address) =>
      isAnchor(token) || tokens.get(token)?.enrolledAtMs != null || this.#enrolments.isArriving(token)
    const events = this.#market.decode(
      block,
      pool => pools.has(pool) || born.has(pool) || this.#recent.isWatched(pool),
      (token0, token1) => (isAnchor(token0) || isAnchor(token1)) && isWanted(token0) && isWanted(token1),
    )
    for (const { event, pool } of events) if (event.kind === 'CREATED') born.add(pool)
    return {
      number: count(block.number),
      hash: block.hash,
      timeMs: ms(block.timeMs),
      parentHash: block.parentHash,
      proof: block.proof,
      events,
    }
  }

  /** A step that fails ends the host, whoever asked for it: its state is then ahead of the store. */
  async #apply(input: Input): Promise<StepResult> {
    try {
      return await this.#commit(input)
    } catch (failure) {
      this.#end(failure)
      throw failure
    }
  }

  async #commit(input: Input): Promise<StepResult> {
    const before = { tipHash: this.#state.chain.tip?.hash ?? null }
    const result = (this.#options.step ?? step)(this.#state, input)
    const outcome = await this.#options.store.commit(
      commitOf(this.#state, input, result, before, this.#stored),
    )
    if (outcome.outcome === 'conflict')
      throw new Error(
        `chain ${this.chainId}: step ${this.#state.chain.steps} does not follow the stored step ${outcome.storedStep}; another writer is at work`,
      )
    this.#lastSequence = outcome.last
    this.#options.onCommitted(outcome.last)
    this.#enrolments.note(result.needs)
    this.#reload.note(result.needs)
    this.#schedule(result.nextTimerMs)
    return result
  }

  #schedule(nextMs: number | null): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (nextMs === null || this.#abort.signal.aborted) return
    const waitMs = Math.min(Math.max(nextMs - this.#options.clock.nowMs(), 0), MAX_TIMER_MS)
    this.#timer = setTimeout(() => {
      this.#lane
        .run(() => this.#apply({ kind: 'timer', atMs: this.#now() }))
        .catch((failure: unknown) => this.#end(failure))
    }, waitMs)
  }

  #now() {
    return ms(this.#options.clock.nowMs())
  }
}

/** Made when first asked for; beyond so many the one made first is made again. */
function keptByName<Value>(most: number, make: (name: string) => Value): (name: string) => Value {
  const kept = new Map<string, Value>()
  return name => {
    const before = kept.get(name)
    if (before !== undefined) return before
    const [oldest] = kept.keys()
    if (kept.size >= most && oldest !== undefined) kept.delete(oldest)
    const made = make(name)
    kept.set(name, made)
    return made
  }
}

const refOf = ({ number, hash, timeMs }: BlockRef): BlockRef => ({ number, hash, timeMs })
