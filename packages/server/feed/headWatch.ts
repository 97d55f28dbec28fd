/**
 * The chain's head as the primary endpoint tells it: pushed where it can push, polled where it cannot, and
 * polled as well when the pushing has gone quiet for longer than the chain explains.
 */
import type { Clock } from '../ops/clock.ts'
import { Bell } from './bell.ts'
import type { Endpoint } from './endpoint.ts'
import type { EndpointSet } from './endpointSet.ts'
import { isFeedError } from './feedError.ts'
import { decodeHead, fetchHeaderByTag, type Head } from './header.ts'

export type SeenHead = Head & {
  readonly endpoint: Endpoint
  /** Monotonic time at which this hash was first told. */
  readonly seenAtMs: number
}

type HeadWatchOptions = {
  readonly endpoints: EndpointSet
  readonly blockTimeMs: number
  readonly clock: Clock
  readonly onHead: (head: SeenHead) => void
  readonly silence?: { readonly leastMs: number; readonly blocks: number }
}

/** Twice a block: no head is missed for long, and no provider is pestered. */
const POLL_MS = { least: 100, most: 4000 } as const
/** F11: a silence this long is asked about. */
const SILENCE = { leastMs: 15_000, blocks: 5 } as const
/** F6: an endpoint this far behind another one is frozen. */
const LAG = { leastMs: 20_000, blocks: 8 } as const

export class HeadWatch {
  readonly #options: HeadWatchOptions
  readonly #bell = new Bell()
  readonly #pollMs: number
  readonly #silenceMs: number
  readonly #lagBlocks: number
  #head: SeenHead | null = null
  #pushed: Head | null = null
  #isPollDue = true

  constructor(options: HeadWatchOptions) {
    this.#options = options
    const { blockTimeMs, endpoints, silence = SILENCE } = options
    this.#pollMs = Math.min(Math.max(blockTimeMs / 2, POLL_MS.least), POLL_MS.most)
    this.#silenceMs = Math.max(silence.leastMs, silence.blocks * blockTimeMs)
    this.#lagBlocks = Math.max(LAG.leastMs / blockTimeMs, LAG.blocks)
    for (const endpoint of endpoints.all) {
      endpoint.onHead = value => this.#receive(endpoint, value)
      endpoint.onChange = () => this.refresh()
    }
  }

  /** Asks for the head now: the one at hand led nowhere. */
  refresh(): void {
    this.#isPollDue = true
    this.#bell.ring()
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#follow(signal), this.#survey(signal)])
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { endpoints } = this.#options
    while (!signal.aborted) {
      const { primary } = endpoints
      if (primary === null) await this.#bell.rung(signal, Math.max(endpoints.waitMs(), POLL_MS.least))
      else if (await this.#look(primary, signal)) await this.#wait(primary, signal)
      else await this.#bell.rung(signal, this.#pollMs)
    }
  }

  /** False when the endpoint failed. */
  async #look(primary: Endpoint, signal: AbortSignal): Promise<boolean> {
    const pushed = this.#pushed
    this.#pushed = null
    if (pushed !== null) this.#tell(primary, pushed)
    if (!this.#isPollDue && primary.isSubscribed) return true
    this.#isPollDue = false
    const isAnswered = await this.#poll(primary, signal)
    if (!isAnswered) this.#isPollDue = true
    return isAnswered
  }

  /** Until there may be something to look at. A subscription that was silent while the chain moved is renewed. */
  async #wait(primary: Endpoint, signal: AbortSignal): Promise<void> {
    const isNews = (): boolean => this.#isPollDue || this.#pushed !== null || signal.aborted
    if (isNews()) return
    if (!primary.isSubscribed) return this.#bell.rung(signal, this.#pollMs)
    await this.#bell.rung(signal, this.#silenceMs)
    if (isNews()) return
    const before = this.#head
    await this.#poll(primary, signal)
    if (this.#head !== before && primary.isSubscribed)
      primary.reset('its subscription is silent while the chain moves')
  }

  /** Asks the others now and then: brings lost ones back and tells a frozen node from a chain that stands still. */
  async #survey(signal: AbortSignal): Promise<void> {
    const { endpoints } = this.#options
    if (endpoints.all.length === 1) return
    const rest = new Bell()
    while (!signal.aborted) {
      await rest.rung(signal, this.#silenceMs)
      const usable = endpoints.all.filter(({ isUsable }) => isUsable)
      await Promise.all(usable.map(endpoint => this.#poll(endpoint, signal)))
      const highest = Math.max(...endpoints.all.map(({ head }) => head ?? 0))
      for (const endpoint of endpoints.all)
        endpoint.isLagging = highest - (endpoint.head ?? highest) > this.#lagBlocks
      if (endpoints.primary !== this.#head?.endpoint) this.refresh()
    }
  }

  /** False when the endpoint failed, which it has already been charged with. */
  async #poll(endpoint: Endpoint, signal: AbortSignal): Promise<boolean> {
    try {
      const head = await fetchHeaderByTag(endpoint, 'latest', signal)
      if (head !== null) this.#tell(endpoint, head)
      return true
    } catch (error) {
      if (signal.aborted) return false
      if (!isFeedError(error)) throw error
      if (error.code === 'BLOCK_REFUSED') endpoint.blame(error)
      return false
    }
  }

  #receive(endpoint: Endpoint, value: unknown): void {
    try {
      const head = decodeHead(endpoint.name, value)
      endpoint.head = head.number
      if (endpoint !== this.#options.endpoints.primary) return
      this.#pushed = head
      this.#bell.ring()
    } catch (error) {
      if (!isFeedError(error)) throw error
      endpoint.blame(error)
    }
  }

  #tell(endpoint: Endpoint, head: Head): void {
    endpoint.head = head.number
    if (endpoint !== this.#options.endpoints.primary || head.hash === this.#head?.hash) return
    const { number, hash, parentHash, timeMs } = head
    this.#head = { number, hash, parentHash, timeMs, endpoint, seenAtMs: this.#options.clock.monotonicMs() }
    this.#options.onHead(this.#head)
  }
}
