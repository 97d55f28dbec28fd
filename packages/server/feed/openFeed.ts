/**
 * A chain's feed, opened: endpoints, heads, the walk behind them, finality and health, each in its own file
 * and wired here. It opens only when at least one endpoint has shown that it serves the right chain.
 */
import type { Clock } from '../ops/clock.ts'
import type { ChainConfig } from '../ops/config.ts'
import { Bell } from './bell.ts'
import { createChainRpc } from './chainRpc.ts'
import { type ConnectionLimits, limitsOf } from './connection.ts'
import { Endpoint, type FeedLog } from './endpoint.ts'
import { EndpointSet } from './endpointSet.ts'
import type { BlockRef, ChainRpc, EndpointCalls, Feed, FeedItem, Resume } from './feed.ts'
import { FeedError, isFeedError } from './feedError.ts'
import { Finality } from './finality.ts'
import { Follower } from './follower.ts'
import { HeadWatch } from './headWatch.ts'
import { type Health, isSameHealth, nextHealth, type Observation, startHealth, toRecord } from './health.ts'
import { Lineage } from './lineage.ts'

export type FeedOptions = {
  readonly chain: ChainConfig
  readonly clock: Clock
  /** Null for a chain that was never followed: its first block is the current head. */
  readonly resume: Resume | null
  readonly log?: FeedLog
  /** For how many blocks the consumer keeps undo data. Left out, the engine's own default. */
  readonly maxUndoBlocks?: number
  readonly limits?: ConnectionLimits
  /** First topics of the logs that the consumer wants; left out, it gets all. */
  readonly topics?: ReadonlySet<string>
  /** After how long a silence the head is asked for. Left out, max(15 s, 5 block times). */
  readonly silence?: { readonly leastMs: number; readonly blocks: number }
  /** Gives up opening. */
  readonly signal?: AbortSignal
}

/** Blocks: what ordinary nodes still have the state of. */
const MAX_START_BEHIND = 64
/** The default of the policy's `max_undo_blocks`. */
const MAX_UNDO_BLOCKS = 8192
/** Health is given on change and at least this often, so that silence means loss. */
const HEALTH_INTERVAL_MS = 15_000
/** How often time alone may change it. */
const HEALTH_TICK_MS = 1000
/** A start is over by then: until the first head is verified, or this long, nothing is said about health. */
const START_GRACE_MS = 10_000

/** Throws NO_ENDPOINT with every endpoint's fault, expected and received, when none serves the chain. */
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
  try {
    await openOne(chain, endpoints, options.signal ?? new AbortController().signal)
  } catch (error) {
    for (const endpoint of endpoints) endpoint.close()
    throw error
  }
  return new ChainFeed(options, new EndpointSet(endpoints, clock), lineage, log)
}

/** Done with the first endpoint that is right; the others go on opening behind it. */
async function openOne(
  chain: ChainConfig,
  endpoints: readonly Endpoint[],
  signal: AbortSignal,
): Promise<void> {
  try {
    await Promise.any(endpoints.map(endpoint => endpoint.open(signal)))
  } catch (error) {
    signal.throwIfAborted()
    const { errors } = error as AggregateError
    const faults = errors.map((each: unknown) => {
      if (isFeedError(each)) return each
      throw each
    })
    const list = faults.map(({ message }) => `  ${message}`).join('\n')
    throw new FeedError(
      'NO_ENDPOINT',
      null,
      `chain ${chain.chainId} (${chain.name}): none of its ${endpoints.length} endpoints serves it\n${list}`,
      { retryable: faults.some(({ retryable }) => retryable) },
    )
  }
}

class ChainFeed implements Feed {
  readonly rpc: ChainRpc
  readonly #options: FeedOptions
  readonly #endpoints: EndpointSet
  readonly #follower: Follower
  readonly #finality: Finality
  readonly #bell = new Bell()
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
    const onChange = (): void => this.#bell.ring()
    const shared = { endpoints, lineage, clock, log, onChange }
    const heads: HeadWatch = new HeadWatch({
      endpoints,
      clock,
      blockTimeMs: chain.blockTimeMs,
      onHead: head => this.#follower.announce(head),
      ...(options.silence === undefined ? {} : { silence: options.silence }),
    })
    this.#follower = new Follower({
      ...shared,
      chainId: chain.chainId,
      processed: resume?.tip ?? null,
      startBehind: Math.min(Math.ceil((chain.startBehindMs ?? 0) / chain.blockTimeMs), MAX_START_BEHIND),
      refreshHead: () => heads.refresh(),
    })
    this.#finality = new Finality({
      ...shared,
      chain,
      finalized: resume?.finalized ?? null,
      processed: () => this.#follower.progress.processed,
    })
    const { signal } = this.#abort
    this.rpc = createChainRpc(endpoints, signal)
    this.#running = Promise.all(
      [heads.run(signal), this.#follower.run(signal), this.#finality.run(signal)].map(part =>
        part.catch((failure: unknown) => this.#fail(failure)),
      ),
    )
  }

  async *items(signal: AbortSignal): AsyncGenerator<FeedItem> {
    const stop = AbortSignal.any([signal, this.#abort.signal])
    while (!stop.aborted) {
      if (this.#failure !== undefined) throw this.#failure
      const item = this.#next()
      if (item === null) await this.#bell.rung(stop, HEALTH_TICK_MS)
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

  /** Health before finality before blocks, but for the first block, which everything else refers to. */
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
      seen.hasIdentity &&
      moment.monotonicMs - this.#startedAtMs < START_GRACE_MS
    if (isStarting) return null
    const isDue =
      this.#said === null ||
      !isSameHealth(this.#said.health, this.#health) ||
      moment.monotonicMs - this.#said.atMs >= HEALTH_INTERVAL_MS
    if (!isDue) return null
    this.#said = { health: this.#health, atMs: moment.monotonicMs }
    const endpoints = this.#endpoints.all.map(({ name, status, head, errorRate, p50Ms }) => ({
      name,
      status,
      head,
      error_rate: errorRate,
      p50_ms: p50Ms,
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
      hasIdentity: this.#endpoints.hasIdentity,
    }
  }

  #moment(): { readonly nowMs: number; readonly monotonicMs: number } {
    const { clock } = this.#options
    return { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
  }

  /** A broken invariant in one part ends the feed; the consumer gets it at its next pull. */
  #fail(failure: unknown): void {
    this.#failure ??= failure
    this.#bell.ring()
  }
}
