/**
 * Watches the heads of all endpoints of a chain. Endpoints that push are polled only when they have been silent for
 * longer than the chain's block time explains. Of the others only the primary is polled at the pace of blocks, and only
 * while no endpoint pushes; the rest are polled occasionally. An endpoint that is behind or set aside is watched like
 * any other.
 */
import type { Clock } from '../../ops/clock.ts'
import { ConditionVariable } from '../conditionVariable.ts'
import { Cadence } from './cadence.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EndpointSet } from '../endpoints/endpointSet.ts'
import { isFeedError } from '../feedError.ts'
import type { HeadChoice } from './headChoice.ts'
import { decodePushed, fetchHeaderByTag, type Header } from '../proof/header.ts'

export type Silence = { readonly leastMs: number; readonly blocks: number }

type HeadWatchOptions = {
  readonly endpoints: EndpointSet
  readonly choice: HeadChoice
  readonly blockTimeMs: number
  readonly clock: Clock
  /** How long an endpoint may report nothing before it is polled. */
  readonly silence?: Silence
}

/** F11, F27: a third of the time after which a feed without a head counts as a gap (R-health-5). */
const SILENCE: Silence = { leastMs: 5000, blocks: 5 / 3 }
/** The longest wait before the clock is checked again: a machine that slept wakes up late. */
const GLANCE_MS = 250

export class HeadWatch {
  readonly #options: HeadWatchOptions
  readonly #changed = new ConditionVariable()
  readonly #silenceMs: number
  /** Monotonic time of the next poll, unless the endpoint reports a head before. */
  readonly #dueAtMs = new Map<Endpoint, number>()
  readonly #pushedAtMs = new Map<Endpoint, number>()
  readonly #cadence: Cadence
  #isRefreshDue = false

  constructor(options: HeadWatchOptions) {
    this.#options = options
    const { blockTimeMs, endpoints, silence = SILENCE } = options
    this.#silenceMs = Math.max(silence.leastMs, silence.blocks * blockTimeMs)
    this.#cadence = new Cadence(blockTimeMs)
    for (const endpoint of endpoints.all) {
      let wasSubscribed = false
      endpoint.onHead = value => this.#receive(endpoint, value)
      endpoint.onChange = () => {
        // A new subscription does not report earlier blocks, and a lost one does not report later blocks.
        if (endpoint.isSubscribed !== wasSubscribed) this.#dueAtMs.delete(endpoint)
        wasSubscribed = endpoint.isSubscribed
        this.#changed.notify()
      }
    }
  }

  /** Polls the primary now because the walk to the current head failed. */
  refresh(): void {
    this.#isRefreshDue = true
    this.#changed.notify()
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#options.endpoints.all.map(endpoint => this.#watch(endpoint, signal)))
  }

  async #watch(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
    const { clock, endpoints } = this.#options
    while (!signal.aborted) {
      const waitMs = Math.max(endpoints.waitMsFor(endpoint), this.#dueMs(endpoint) - clock.monotonicMs())
      if (waitMs > 0) await this.#changed.wait(signal, Math.min(waitMs, GLANCE_MS))
      else await this.#ask(endpoint, signal)
    }
  }

  /** Monotonic time at which the endpoint must be polled. */
  #dueMs(endpoint: Endpoint): number {
    const dueAtMs = this.#dueAtMs.get(endpoint)
    const isRefreshed = this.#isRefreshDue && endpoint === this.#options.endpoints.primary
    if (dueAtMs === undefined || isRefreshed) return Number.NEGATIVE_INFINITY
    return this.#isPaced(endpoint) ? this.#cadence.nextMs : dueAtMs
  }

  /** Whether the endpoint is polled at the pace of blocks. */
  #isPaced(endpoint: Endpoint): boolean {
    return !endpoint.isSubscribed && endpoint === this.#options.endpoints.primary
  }

  async #ask(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
    const { clock, choice, endpoints } = this.#options
    const [isPaced, isSilent] = [
      this.#isPaced(endpoint),
      endpoint.isSubscribed && this.#dueAtMs.has(endpoint),
    ]
    if (endpoint === endpoints.primary) this.#isRefreshDue = false
    const [before, askedAtMs] = [choice.headOf(endpoint), clock.monotonicMs()]
    const head = await this.#poll(endpoint, signal)
    if (signal.aborted) return
    this.#dueAtMs.set(endpoint, askedAtMs + (head === null ? this.#cadence.restMs : this.#silenceMs))
    const isNews = head !== null && head.number > (before?.number ?? -1)
    if (isPaced && isNews) this.#cadence.found(head, askedAtMs)
    else if (isPaced) this.#cadence.missed(askedAtMs)
    const isPushed = (this.#pushedAtMs.get(endpoint) ?? Number.NEGATIVE_INFINITY) >= askedAtMs
    if (!isNews || !isSilent || isPushed || !endpoint.isSubscribed) return
    endpoint.reset('its subscription is silent while the chain moves')
    this.#dueAtMs.delete(endpoint)
  }

  /** Null when the endpoint failed, which its standing already counts, or has no block. */
  async #poll(endpoint: Endpoint, signal: AbortSignal): Promise<Header | null> {
    const { endpoints, choice } = this.#options
    const ask = { method: 'eth_getBlockByNumber', signal, only: endpoint }
    try {
      const fetch = (_: Endpoint, until: AbortSignal) => fetchHeaderByTag(endpoint, 'latest', until)
      const head = await endpoints.attempt(fetch, undefined, ask)
      if (head !== null) choice.tell(endpoint, head)
      return head
    } catch (error) {
      if (signal.aborted || isFeedError(error)) return null
      throw error
    }
  }

  #receive(endpoint: Endpoint, value: unknown): void {
    try {
      const head = decodePushed(endpoint, value)
      const nowMs = this.#options.clock.monotonicMs()
      this.#pushedAtMs.set(endpoint, nowMs)
      this.#dueAtMs.set(endpoint, nowMs + this.#silenceMs)
      this.#options.choice.tell(endpoint, head)
    } catch (error) {
      if (!isFeedError(error)) throw error
      endpoint.blame(error)
    }
  }
}
