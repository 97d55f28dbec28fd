/**
 * Opens a chain's feed: wires endpoints, heads, the follower, finality and health, each in its own file. The feed runs
 * from the start, with or without reachable endpoints: while none is reachable its health says so, and it continues as
 * soon as one is.
 */
import type { Clock } from '../ops/clock.ts'
import type { ChainConfig } from '../config/config.ts'
import { ConditionVariable } from './conditionVariable.ts'
import { createChainRpc } from './endpoints/chainRpc.ts'
import { type ConnectionLimits, limitsOf } from './transport/connection.ts'
import { Endpoint } from './endpoints/endpoint.ts'
import type { FeedLog } from './feedLog.ts'
import { EndpointSet } from './endpoints/endpointSet.ts'
import type { BlockRef, ChainRpc, EndpointCalls, Feed, FeedItem, Resume } from './feed.ts'
import { FeedError } from './feedError.ts'
import { Finality } from './follow/finality.ts'
import { Follower } from './follow/follower.ts'
import { HeadChoice } from './follow/headChoice.ts'
import { HeaderBook } from './follow/headerBook.ts'
import { HeadWatch, type Silence } from './follow/headWatch.ts'
import {
  type Health,
  isSameHealth,
  nextHealth,
  type Observation,
  startHealth,
  toRecord,
} from './follow/health.ts'
import { Lineage } from './follow/lineage.ts'
import type { PastReader } from './history/past.ts'
import { createPastReader } from './history/pastReader.ts'
import { createSimulator } from './endpoints/endpointSimulator.ts'
import type { Simulator } from './endpoints/simulator.ts'

export type FeedOptions = {
  readonly chain: ChainConfig
  readonly clock: Clock
  /** Null for a chain that was never followed: it starts at the current head. */
  readonly resume: Resume | null
  readonly log?: FeedLog
  /** Number of blocks the consumer keeps undo data for. Left out, the engine's own default. */
  readonly maxUndoBlocks?: number
  readonly limits?: ConnectionLimits
  /** First topics of the logs that the consumer wants; left out, it gets all logs. */
  readonly topics?: ReadonlySet<string>
  /** How long a silence may last before the head is polled. Left out, a third of the time that counts as a gap. */
  readonly silence?: Silence
}

/** Ordinary nodes still have the state of this many blocks. */
const MAX_START_BEHIND = 64
/** The default of the policy's `max_undo_blocks`. */
const MAX_UNDO_BLOCKS = 8192
/** Health is sent on every change and at least this often, so that silence means loss. */
const HEALTH_INTERVAL_MS = 15_000
/** How often health is evaluated without a new event, because time alone may change it. */
const HEALTH_TICK_MS = 1000
/** No health is reported until the first head is verified, every endpoint has failed, or this much time has passed. */
const START_GRACE_MS = 10_000

export async function openFeed(options: FeedOptions): Promise<Feed> {
  const { chain, clock, topics, limits = limitsOf(options.chain) } = options
  const lineage = new Lineage(options.resume, options.maxUndoBlocks ?? MAX_UNDO_BLOCKS)
  const log: FeedLog = options.log ?? (() => {})
  const { chainId, genesisHash, checkpoint, proof } = chain
  const identity = { chainId, genesisHash, checkpoint }
  const endpoints = chain.endpoints.map(
    ({ name, url }) =>
      new Endpoint({
        name,
        url,
        identity,
        proof,
        clock,
        log,
        limits,
        ...(topics === undefined ? {} : { topics }),
      }),
  )
  return new ChainFeed(options, new EndpointSet(endpoints, clock), lineage, log)
}

class ChainFeed implements Feed {
  readonly rpc: ChainRpc
  readonly past: PastReader
  readonly simulator: Simulator
  readonly #options: FeedOptions
  readonly #endpoints: EndpointSet
  readonly #choice: HeadChoice
  readonly #follower: Follower
  readonly #finality: Finality
  readonly #changed = new ConditionVariable()
  readonly #abort = new AbortController()
  readonly #running: Promise<unknown>
  readonly #startedAtMs: number
  #failure: unknown
  #health: Health
  #said: { readonly health: Health; readonly atMs: number } | null = null
  #hasGivenBlock: boolean

  constructor(options: FeedOptions, endpoints: EndpointSet, lineage: Lineage, log: FeedLog) {
    const { chain, clock, resume } = options
    this.#options = options
    this.#endpoints = endpoints
    this.#startedAtMs = clock.monotonicMs()
    this.#health = startHealth(this.#moment())
    this.#hasGivenBlock = resume !== null
    const onChange = (): void => this.#changed.notify()
    const book = new HeaderBook()
    const { chainId, blockTimeMs } = chain
    const shared = { endpoints, lineage, clock, log, onChange }
    this.#choice = new HeadChoice({
      ...shared,
      book,
      chainId,
      blockTimeMs,
      onHead: head => this.#follower.announce(head),
    })
    const heads = new HeadWatch({
      endpoints,
      choice: this.#choice,
      clock,
      blockTimeMs,
      ...(options.silence === undefined ? {} : { silence: options.silence }),
    })
    this.#follower = new Follower({
      ...shared,
      book,
      chainId,
      processed: resume?.tip ?? null,
      startBehind: Math.min(Math.ceil((chain.startBehindMs ?? 0) / blockTimeMs), MAX_START_BEHIND),
      onBlocked: head => {
        this.#choice.doubt(head)
        heads.refresh()
      },
    })
    this.#finality = new Finality({
      ...shared,
      chain,
      finalized: resume?.finalized ?? null,
      processed: () => this.#follower.progress.processed,
      head: () => this.#follower.progress.head,
    })
    const { signal } = this.#abort
    this.rpc = createChainRpc(endpoints, signal)
    this.past = createPastReader(endpoints, signal)
    this.simulator = createSimulator(endpoints, signal)
    this.#running = Promise.all(
      [heads, this.#choice, this.#follower, this.#finality].map(part =>
        part.run(signal).catch((failure: unknown) => this.#fail(failure)),
      ),
    )
  }

  async *items(signal: AbortSignal): AsyncGenerator<FeedItem> {
    const stop = AbortSignal.any([signal, this.#abort.signal])
    while (!stop.aborted) {
      if (this.#failure !== undefined) throw this.#failure
      const item = this.#next()
      if (item === null) await this.#changed.wait(stop, HEALTH_TICK_MS)
      else yield item
    }
  }

  processed(block: BlockRef): void {
    this.#follower.processed({ number: block.number, hash: block.hash, timeMs: block.timeMs })
    this.#finality.nudge()
  }

  calls(): readonly EndpointCalls[] {
    return this.#endpoints.all.map(endpoint => endpoint.calls)
  }

  async close(): Promise<void> {
    this.#abort.abort(new FeedError('FEED_CLOSED', null, 'the feed is closed'))
    for (const endpoint of this.#endpoints.all) endpoint.close()
    await this.#running
  }

  /**
   * Health goes before finality and finality before blocks; only the first block goes before all, because the rest
   * refers to it.
   */
  #next(): FeedItem | null {
    const health = this.#hasGivenBlock ? this.#dueHealth() : null
    if (health !== null) return health
    const final = this.#finality.take()
    if (final !== null) return { kind: 'finalize', number: final.number, hash: final.hash }
    const item = this.#follower.take()
    if (item !== null) this.#hasGivenBlock = true
    return item ?? this.#dueHealth()
  }

  #dueHealth(): FeedItem | null {
    const { chain } = this.#options
    const moment = this.#moment()
    const seen = this.#observe()
    this.#health = nextHealth(this.#health, seen, chain.blockTimeMs, moment)
    const isStarting =
      !this.#health.hasHead &&
      !seen.isHalted &&
      !this.#endpoints.isHopeless &&
      moment.monotonicMs - this.#startedAtMs < START_GRACE_MS
    if (isStarting) return null
    const isDue =
      this.#said === null ||
      !isSameHealth(this.#said.health, this.#health) ||
      moment.monotonicMs - this.#said.atMs >= HEALTH_INTERVAL_MS
    if (!isDue) return null
    this.#said = { health: this.#health, atMs: moment.monotonicMs }
    const endpoints = this.#endpoints.all.map(({ name, status, head, errorRate, p50Ms, abilities }) => ({
      name,
      status,
      head,
      error_rate: errorRate,
      p50_ms: p50Ms,
      ...(abilities.lackings.length === 0 ? {} : { lacks: abilities.lackings }),
    }))
    return {
      kind: 'health',
      record: toRecord(this.#health, seen, chain.chainId, endpoints, moment.nowMs),
    }
  }

  #observe(): Observation {
    const { progress } = this.#follower
    return {
      ...progress,
      isStallAgreed: progress.head !== null && this.#endpoints.isLast(progress.head.number),
      final: this.#finality.final,
      finalityAtMs: this.#finality.advancedAtMs,
      isFinalByFallback: this.#finality.isByFallback,
      isUnconfirmed: this.#choice.isUnconfirmed,
      hasIdentity: this.#endpoints.hasIdentity,
    }
  }

  #moment(): { readonly nowMs: number; readonly monotonicMs: number } {
    const { clock } = this.#options
    return { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
  }

  /** A broken invariant in one part ends the feed; the consumer receives the error at its next pull. */
  #fail(failure: unknown): void {
    this.#failure ??= failure
    this.#changed.notify()
  }
}
