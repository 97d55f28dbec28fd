/**
 * Matches the log and makes deliveries for as long as this process has the turn. It reads the log like any consumer,
 * and commits of a chain do not depend on it. Without a webhook it writes nothing at all.
 */
import type { Clock } from '../ops/clock.ts'
import type { Log } from '../ops/log.ts'
import type { AccessStore, LogStore } from '../store/port.ts'
import { StoreError } from '../store/storeError.ts'
import type { WebhookStore } from '../store/webhooks.ts'
import type { Hub } from '../stream/hub.ts'
import type { Sending } from './attempt.ts'
import { pauseMs } from './retrySchedule.ts'
import { Deliveries } from './deliveries.ts'
import { Entitlement } from './entitlement.ts'
import { Matcher } from './matcher.ts'
import { SenderElection } from './senderElection.ts'

export type SenderOptions = {
  readonly store: LogStore & WebhookStore & Pick<AccessStore, 'listKeys'>
  readonly hub: Pick<Hub, 'after' | 'reaches' | 'listen'>
  readonly sending: Sending
  readonly clock: Clock
  readonly log: Log
  /** The name of this process, shown to people. */
  readonly owner: string
  /** No other process uses the database. */
  readonly isAlone: boolean
  /**
   * Pause between two attempts, from their number and a random share from 0 to 1; left out, from seconds to an hour.
   */
  readonly pauseMs?: (attempts: number, share: number) => number
}

/** Interval of heartbeats and of checks for changes by other processes. */
const TICK_MS = 1000
/** Ticks between two saves of positions without a delivery. */
const FLUSH_TICKS = 60
const PRUNE_TICKS = 600
/** Finished deliveries stay listed for a week. */
const KEPT_MS = 7 * 86_400_000
const PRUNE_BATCH = 1000
/** Pause after a failure. */
const PAUSE_MS = 1000

export class Sender {
  readonly #options: SenderOptions
  readonly #stopping = new AbortController()
  readonly #ended: Promise<void>
  #wake: () => void = () => undefined
  #isWoken = false
  #isStale = true

  constructor(options: SenderOptions) {
    this.#options = options
    this.#ended = this.#run()
  }

  /** A webhook was changed in this process; changes by others are noticed within a second. */
  changed(): void {
    this.#isStale = true
    this.#alarm()
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    this.#alarm()
    await this.#ended
  }

  async #run(): Promise<void> {
    const { store, clock, hub, log } = this.#options
    const election = new SenderElection(store, clock, this.#options)
    const unlisten = hub.listen({ wake: () => this.#alarm() })
    while (!this.#stopping.signal.aborted) {
      try {
        // Without a receiver there is nothing to be elected for.
        const generation = (await store.listWebhooks(null)).length === 0 ? null : await election.take()
        if (generation !== null) await this.#hold(generation)
      } catch (failure) {
        if (!isEnded(failure)) log.warn('webhook deliveries are delayed', { error: String(failure) })
      }
      await this.#pause(PAUSE_MS, true)
    }
    unlisten()
  }

  /** Runs until it is stopped, or another process takes over. */
  async #hold(generation: number): Promise<void> {
    const { store, hub, sending, clock, log, isAlone } = this.#options
    let failure: unknown = null
    const entitlement = new Entitlement(store, clock)
    const deliveries: Deliveries = new Deliveries({
      store,
      generation,
      sending,
      pauseMs: this.#options.pauseMs ?? pauseMs,
      objection: consumer => entitlement.objection(consumer),
      onDelivered: webhookId => {
        if (matcher.settled(webhookId)) this.#alarm()
      },
      onParked: (webhookId, reason) => {
        log.warn('a webhook is parked', { webhook_id: webhookId, reason })
        this.changed()
      },
      onFailure: refused => {
        if (isFenced(refused)) failure = refused
        else log.warn('the outcome of a delivery could not be stored', { error: String(refused) })
        this.#alarm()
      },
    })
    const matcher = new Matcher({
      store,
      hub,
      generation,
      log,
      onFound: webhookIds => deliveries.found(webhookIds),
      onStale: () => this.changed(),
    })
    log.info('this process sends webhooks', { turn: generation })
    try {
      await this.#follow({ generation, matcher, deliveries, failed: () => failure })
    } finally {
      deliveries.close()
      if (this.#stopping.signal.aborted) {
        await matcher.flush().catch(() => undefined)
        if (!isAlone) await store.leaveWebhookTurn(generation).catch(() => undefined)
      }
    }
  }

  async #follow(held: {
    readonly generation: number
    readonly matcher: Matcher
    readonly deliveries: Deliveries
    readonly failed: () => unknown
  }): Promise<void> {
    const { generation, matcher, deliveries } = held
    let revision = -1
    let tickedAtMs = Number.NEGATIVE_INFINITY
    let ticks = 0
    this.#isStale = true
    while (!this.#stopping.signal.aborted) {
      const failure = held.failed()
      if (failure !== null) throw failure
      const nowMs = this.#options.clock.monotonicMs()
      if (this.#isStale || nowMs - tickedAtMs >= TICK_MS) {
        tickedAtMs = nowMs
        ticks += 1
        revision = await this.#refresh(generation, revision, matcher, deliveries)
        await this.#upkeep(generation, ticks, matcher)
      }
      if (!(await matcher.step())) await this.#pause(TICK_MS, false)
    }
  }

  /** Reloads the webhooks if any was changed. */
  async #refresh(
    generation: number,
    known: number,
    matcher: Matcher,
    deliveries: Deliveries,
  ): Promise<number> {
    const { store, isAlone } = this.#options
    this.#isStale = false
    if (!isAlone && !(await store.beatWebhookTurn(generation))) throw ended(generation)
    const turn = await store.readWebhookTurn()
    if (turn?.generation !== generation) throw ended(generation)
    if (turn.revision === known) return known
    // Read before the rows: a change in between is noticed again the next time.
    const rows = (await store.listWebhooks(null)).filter(({ state }) => state === 'ACTIVE')
    matcher.load(rows)
    deliveries.load(rows)
    return turn.revision
  }

  async #upkeep(generation: number, ticks: number, matcher: Matcher): Promise<void> {
    const { store, clock } = this.#options
    if (ticks % FLUSH_TICKS === 0) await matcher.flush()
    if (ticks % PRUNE_TICKS === 0)
      await store.pruneDeliveries(generation, clock.nowMs() - KEPT_MS, PRUNE_BATCH)
  }

  #alarm(): void {
    this.#isWoken = true
    this.#wake()
  }

  /** Waits for news or the timeout; with `isDeaf`, only for the timeout or the end. */
  async #pause(ms: number, isDeaf: boolean): Promise<void> {
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms)
      timer.unref()
      this.#wake = () => {
        if (isDeaf && !this.#stopping.signal.aborted && !this.#isStale) return
        clearTimeout(timer)
        resolve()
      }
      if (this.#isWoken) this.#wake()
    })
    this.#isWoken = false
    this.#wake = () => undefined
  }
}

const ended = (generation: number): StoreError =>
  new StoreError('STORE_FENCED', `turn ${generation} of the webhooks is over`)

const isFenced = (failure: unknown): boolean =>
  failure instanceof StoreError && failure.code === 'STORE_FENCED'

/** Another process has taken over, which is no fault. */
const isEnded = (failure: unknown): boolean =>
  isFenced(failure) || (failure instanceof StoreError && failure.code === 'STORE_CLOSED')
