/**
 * A client: the SDK's own follower on a network that fails. Every record it receives is the next of its chain, byte
 * for byte as committed; whenever it has caught up, its state equals the log's.
 */
import { SCHEMA_VERSION } from '../../packages/sdk/wire/stream.ts'
import type { PoolPage, PoolsQuery } from '../../packages/sdk/wire/pool.ts'
import type { CompactState } from '../../packages/sdk/wire/price.ts'
import type { Id } from '../../packages/sdk/wire/identifier.ts'
import type { Session, SessionQuery } from '../../packages/sdk/wire/session.ts'
import { AssayError } from '../../packages/sdk/client/failure.ts'
import { Follower, type Source } from '../../packages/sdk/client/follow.ts'
import { stateAt } from '../../packages/sdk/client/stateAt.ts'
import { Stream } from '../../packages/sdk/client/stream.ts'
import { asCommitted } from '../../packages/server/http/views/stateAsShown.ts'
import { snapshotText } from '../../packages/server/http/views/rows.ts'
import { epochOf } from '../../packages/server/store/epoch.ts'
import type { Sequence } from '../../packages/server/store/port.ts'
import { CURSOR_LIFETIME_MS, openCursor, sealCursor } from '../../packages/server/stream/cursor.ts'
import type { Random } from '../../packages/engine/testing/randomMarket.ts'
import type { Subject } from './ledger.ts'
import type { SimProcess } from './process.ts'
import type { ProcessStore } from './store.ts'
import { Wire } from './wire.ts'
import type { World } from './world.ts'

/** Few pools per page, so that a snapshot has several pages from different moments. */
const PAGE_POOLS = 5
const PAUSE_CHANCE = 0.003
const LONGEST_PAUSE_MS = 30_000
const LATENCY_MS = 50
const TOO_SLOW = 1013
/** Comparisons of changed entities between two comparisons of everything. */
const WHOLE_COMPARISONS = 20

export class SimClient {
  readonly #world: World
  readonly #name: string
  readonly #chainId: number
  readonly #random: Random
  readonly #service: () => SimProcess | null
  readonly #follower: Follower
  #wire: Wire | null = null
  #awayUntilMs = 0
  #isSteady = false
  /** Whether everything was compared since its connection changed. */
  #isKnown = false
  #comparisons = 0
  #comparedAt: Sequence = 0

  constructor(world: World, name: string, chainId: number, service: () => SimProcess | null) {
    this.#world = world
    this.#name = name
    this.#chainId = chainId
    this.#random = world.randomOf(name)
    this.#service = service
    const backoff = { baseMs: 250, maxMs: 10_000, maxFailures: Number.MAX_SAFE_INTEGER }
    this.#follower = new Follower(this.#source(), { chain_id: chainId, backoff, now: () => world.time.nowMs })
  }

  /** Follows until it is closed. */
  async run(): Promise<void> {
    const { time, counts, verdict } = this.#world
    try {
      for await (const event of this.#follower) {
        time.touch()
        if (event.kind === 'status') this.#isKnown = false
        if (event.kind === 'status' && event.status === 'replaying') counts.resumes += 1
        if (event.kind === 'status' && event.status === 'resetting' && event.reason !== null)
          counts.resets += 1
        if (event.kind === 'record') this.#compareIfCaughtUp()
        if (!this.#isSteady && this.#random.chance(PAUSE_CHANCE))
          await time.pause(this.#random.below(LONGEST_PAUSE_MS))
      }
    } catch (failure) {
      verdict.check('endings', false, () => `${this.#name} gave up: ${(failure as Error).stack}`)
    }
  }

  cut(): void {
    this.#world.counts.cuts += 1
    this.#wire?.cut()
  }

  stall(forMs: number): void {
    this.#world.counts.slowReaders += 1
    this.#wire?.stall(forMs)
  }

  /** Leaves the network for this long. */
  leave(forMs: number): void {
    this.#world.counts.absences += 1
    this.#awayUntilMs = this.#world.time.nowMs + forMs
    this.#wire?.cut()
  }

  /** No more faults of its own. */
  steady(): void {
    this.#isSteady = true
    this.#awayUntilMs = 0
  }

  close(): void {
    this.#follower.close()
  }

  get isCaughtUp(): boolean {
    const { sequence } = this.#follower
    const last = this.#world.ledger.lastOf(this.#chainId)
    return sequence !== null && last !== null && sequence >= last && epochOf(sequence) === epochOf(last)
  }

  get place(): string {
    const { sequence, status } = this.#follower
    return `${this.#name} is ${status} at ${sequence}, its chain at ${this.#world.ledger.lastOf(this.#chainId)}`
  }

  /** Compares everything it knows with the log. */
  compareAll(): void {
    const { ledger } = this.#world
    for (const [id] of ledger.standing(this.#chainId, 'pool')) this.#compare({ scope: 'pool', id })
    for (const { pool_id } of this.#follower.pools()) this.#compare({ scope: 'pool', id: pool_id })
    for (const { token_id } of this.#follower.tokens()) this.#compare({ scope: 'token', id: token_id })
  }

  /**
   * Compares the entities in the log since the last time; occasionally, and after each change of its connection, all
   * of them.
   */
  #compareIfCaughtUp(): void {
    if (!this.isCaughtUp) return
    const { counts, ledger } = this.#world
    counts.compared += 1
    this.#comparisons += 1
    const isWhole = !this.#isKnown || this.#comparisons % WHOLE_COMPARISONS === 0
    const subjects = isWhole ? null : ledger.subjectsAfter(this.#chainId, this.#comparedAt)
    this.#isKnown = true
    this.#comparedAt = ledger.lastOf(this.#chainId) as Sequence
    if (subjects === null) this.compareAll()
    else for (const subject of subjects) this.#compare(subject)
  }

  #compare({ scope, id }: Subject): void {
    const { ledger, time, verdict } = this.#world
    const last = ledger.last(this.#chainId, scope, id)?.state ?? null
    const isPool = scope === 'pool'
    const held = isPool ? this.#poolText(id as Id) : JSON.stringify(this.#follower.token(id as Id)?.price)
    const said =
      isPool || last === null
        ? last
        : JSON.stringify(stateAt(JSON.parse(last) as CompactState, time.nowMs, this.#follower.feedGone()))
    verdict.check(
      'clients',
      held === (said ?? (isPool ? null : 'null')),
      () =>
        `${this.#name} holds ${scope} ${id} as ${held?.slice(0, 200)}, the log as ${said?.slice(0, 200) ?? 'gone'}`,
    )
  }

  #poolText(id: Id): string | null {
    const held = this.#follower.pool(id)?.state ?? null
    if (held === null) return null
    const { stream_sequence: _, ...own } = held
    return JSON.stringify(own)
  }

  #source(): Source {
    return {
      fetchPools: (query: PoolsQuery) => this.#ask(store => this.#page(store, query)),
      createSession: (query: SessionQuery) => this.#ask(store => this.#session(store, query)),
      stream: request => {
        const after = openCursor(this.#world.cursorSecret, request.resumeCursor ?? '')?.sequence ?? 0
        const wire = new Wire(this.#world.time, this.#random, this.#listener(after))
        if (this.#wire?.closedWith === TOO_SLOW) this.#world.counts.tooSlow += 1
        this.#wire = wire
        const stream = new Stream(wire, request)
        const isAway = this.#world.time.nowMs < this.#awayUntilMs
        wire.open(isAway ? () => null : (this.#service()?.accept ?? (() => null)))
        return stream
      },
    }
  }

  /** Listens on a connection that began after a sequence. */
  #listener(start: Sequence): (text: string) => void {
    const { ledger, verdict } = this.#world
    let after = start
    return text => {
      const next = ledger.next(this.#chainId, after)
      const isNext = next !== null && ledger.envelope(next) === text
      const { stream_sequence: sequence } = isNext
        ? { stream_sequence: next }
        : (JSON.parse(text) as { stream_sequence?: Sequence })
      if (sequence === undefined) return
      verdict.check(
        'stream',
        sequence === next && epochOf(sequence) === epochOf(after),
        () =>
          `${this.#name} was at ${after} and received ${sequence}; chain ${this.#chainId} continues with ${next}`,
      )
      verdict.check(
        'stream',
        ledger.envelope(sequence) === text,
        () => `${this.#name} heard another ${sequence} than was committed`,
      )
      after = sequence
    }
  }

  /** A request over the network, which takes time in both directions. */
  async #ask<Result>(task: (store: ProcessStore) => Promise<Result>): Promise<Result> {
    const { time } = this.#world
    const lost = (cause?: unknown) =>
      new AssayError({ code: 'NETWORK', message: 'the service could not be reached', cause })
    await time.pause(this.#random.below(LATENCY_MS))
    const service = this.#service()
    if (service === null || time.nowMs < this.#awayUntilMs) throw lost()
    const answer = await service.request(task).catch((failure: unknown) => {
      throw failure instanceof AssayError ? failure : lost(failure)
    })
    await time.pause(this.#random.below(LATENCY_MS))
    return answer
  }

  /** The response of GET /v1/pools. */
  async #page(store: ProcessStore, query: PoolsQuery): Promise<PoolPage> {
    const chainId = this.#chainId
    const after = query.cursor === undefined ? null : { chainId, poolAddress: query.cursor }
    const page = { chainId, tokenAddress: null, after, limit: PAGE_POOLS }
    const { pools, snapshotSequence } = await store.readPools(page)
    return {
      pools: pools.map(row =>
        snapshotText(row, asCommitted(this.#world.time.nowMs), null),
      ) as PoolPage['pools'],
      next_cursor: pools.length < PAGE_POOLS ? null : (pools.at(-1)?.poolAddress ?? null),
      snapshot_sequence: snapshotSequence,
    }
  }

  /** The response of POST /v1/session. */
  async #session(store: ProcessStore, { snapshot_sequence = 0 }: SessionQuery): Promise<Session> {
    const { time, cursorSecret } = this.#world
    const { epoch, head, oldest } = await store.readBounds()
    if (snapshot_sequence > head || epochOf(snapshot_sequence) !== epoch)
      throw new AssayError({ code: 'BAD_REQUEST', status: 400, message: 'not of this log' })
    const cursor = {
      epoch,
      chainId: this.#chainId,
      sequence: snapshot_sequence,
      schemaVersion: SCHEMA_VERSION,
      issuedAtMs: time.nowMs,
    }
    return {
      session: { expires_at_ms: time.nowMs + CURSOR_LIFETIME_MS },
      resume_cursor: sealCursor(cursorSecret, cursor),
      cursor_expires_at_ms: time.nowMs + CURSOR_LIFETIME_MS,
      schema_version: SCHEMA_VERSION,
      stream: { oldest_sequence: oldest, head_sequence: head },
    }
  }
}
