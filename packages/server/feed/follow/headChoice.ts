/**
 * Chooses which head to follow (R-health-5): the highest that any endpoint reports. A header proves nothing about
 * consensus, so a second endpoint must come to know the followed chain too. If none does and two others share a head,
 * theirs is followed, and the endpoint that was alone is set aside until another endpoint knows one of its heads.
 *
 * An endpoint may be several nodes behind one address, so an older block of our own chain is no news.
 */
import type { Clock } from '../../ops/clock.ts'
import { ConditionVariable } from '../conditionVariable.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { FeedLog } from '../feedLog.ts'
import type { EndpointSet } from '../endpoints/endpointSet.ts'
import { isFeedError } from '../feedError.ts'
import { fetchHeaderByNumber, type Head, type Header } from '../proof/header.ts'
import type { HeaderBook } from './headerBook.ts'
import type { Lineage } from './lineage.ts'

export type SeenHead = Head & {
  readonly endpoint: Endpoint
  /** Monotonic time at which it was first followed. */
  readonly seenAtMs: number
  /** May also be a return to a block of our own chain. */
  readonly isReturn: boolean
}

type HeadChoiceOptions = {
  readonly chainId: number
  readonly endpoints: EndpointSet
  readonly lineage: Lineage
  readonly book: HeaderBook
  readonly blockTimeMs: number
  readonly clock: Clock
  readonly log: FeedLog
  readonly onHead: (head: SeenHead) => void
}

type Reported = {
  readonly head: Head | Header
  /** Monotonic time at which it first reported this head. */
  readonly sinceMs: number
}

/** How far behind the head an endpoint may be and still serve reads. */
const IN_STEP = { leastMs: 2000, blocks: 2 } as const
/** How long a single endpoint may be the only one that knows a head. */
const UNCONFIRMED = { leastMs: 10_000, blocks: 2 } as const
/** Interval between checks of an unconfirmed head, and between searches for a head that others share. */
const LOOK_MS = 1000
const SEARCH_MS = 5000
/** Failed walks to one head before another endpoint's head is followed; takes a few seconds. */
const MOST_BLOCKED = 4
/** Heads kept for an endpoint that is set aside, so that another endpoint can confirm one of them. */
const MOST_ASIDE = 64

export class HeadChoice {
  readonly #options: HeadChoiceOptions
  readonly #inStepBlocks: number
  readonly #unconfirmedMs: number
  readonly #reported = new Map<Endpoint, Reported>()
  /** The highest block of the followed chain that each endpoint reported. */
  readonly #knows = new Map<Endpoint, number>()
  readonly #aside = new Map<Endpoint, Head[]>()
  readonly #heardAtMs = new Map<Endpoint, number>()
  #followed: SeenHead | null = null
  #blocked: { readonly hash: string; readonly times: number } | null = null
  #confirmed = -1
  /** Monotonic time since when no second endpoint knows a later block. */
  #unconfirmedSinceMs: number | null = null

  constructor(options: HeadChoiceOptions) {
    this.#options = options
    const { blockTimeMs } = options
    this.#inStepBlocks = Math.max(IN_STEP.leastMs / blockTimeMs, IN_STEP.blocks)
    this.#unconfirmedMs = Math.max(UNCONFIRMED.leastMs, UNCONFIRMED.blocks * blockTimeMs)
  }

  /** The endpoint's last reported head. */
  headOf(endpoint: Endpoint): Head | null {
    return this.#reported.get(endpoint)?.head ?? null
  }

  /** Whether only one of several endpoints has known the followed head for too long. */
  get isUnconfirmed(): boolean {
    this.#review()
    const sinceMs = this.#unconfirmedSinceMs
    return sinceMs !== null && this.#options.clock.monotonicMs() - sinceMs > this.#unconfirmedMs
  }

  tell(endpoint: Endpoint, head: Head | Header): void {
    this.#options.book.add(head)
    const before = this.#reported.get(endpoint)?.head
    const isLate = before !== undefined && head.number < before.number && this.#isOurs(head)
    if (!isLate && head.hash !== before?.hash) {
      this.#reported.set(endpoint, { head, sinceMs: this.#options.clock.monotonicMs() })
      endpoint.head = head.number
    }
    this.#heardAtMs.set(endpoint, this.#options.clock.monotonicMs())
    if (endpoint.isSetAside) this.#aside.get(endpoint)?.push(head)
    this.#readmit()
    if (!isLate && this.#isToFollow(endpoint, head)) this.#follow(endpoint, head, false)
    this.#note(endpoint, head)
    this.#compare(endpoint)
    this.#review()
  }

  /**
   * Records a failed walk to this head. If walks keep failing, other endpoints are followed, even when their heads are
   * lower.
   */
  doubt(head: SeenHead): void {
    this.#blocked = {
      hash: head.hash,
      times: this.#blocked?.hash === head.hash ? this.#blocked.times + 1 : 1,
    }
    if (this.#blocked.times < MOST_BLOCKED || this.#followed?.hash !== head.hash) return
    const best = this.#live()
      .filter(each => each !== head.endpoint && (this.#knows.get(each) ?? -1) < head.number)
      .map(endpoint => ({ endpoint, head: this.#reported.get(endpoint)?.head }))
      .sort((a, b) => (b.head?.number ?? 0) - (a.head?.number ?? 0))[0]
    if (best?.head === undefined) return
    this.#setAside(head)
    this.#follow(best.endpoint, best.head, false)
  }

  /**
   * Runs until the signal aborts. Returns to a head that two endpoints share when the followed endpoint is alone with
   * its own.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#options.endpoints.all.length < 3) return
    const rest = new ConditionVariable()
    while (!signal.aborted) {
      const isDue = this.isUnconfirmed
      if (isDue) await this.#reconsider(signal)
      await rest.wait(signal, isDue ? SEARCH_MS : LOOK_MS)
    }
  }

  #isToFollow(endpoint: Endpoint, head: Head): boolean {
    const followed = this.#followed
    if (followed === null) return true
    if (head.hash === followed.hash || endpoint.isSetAside) return false
    if (head.number <= followed.number && this.#isOurs(head)) return false
    if (endpoint === followed.endpoint) return true
    const ahead = head.number - followed.number
    if (ahead > 0 && this.#options.book.isBelow(followed.hash, head.hash)) return true
    // The endpoint may be on another fork: two endpoints on two forks must not move the chain back and forth.
    const isLeft = !followed.endpoint.isUsable || !followed.endpoint.isInStep
    return isLeft ? ahead >= 0 : ahead > this.#inStepBlocks
  }

  #follow(endpoint: Endpoint, head: Head | Header, isReturn: boolean): void {
    const { clock, onHead, endpoints, book } = this.#options
    const before = this.#followed
    // Possibly another branch: no other endpoint has shown that it knows this block.
    if (before !== null && !book.isBelow(before.hash, head.hash)) {
      for (const [each, number] of this.#knows) this.#knows.set(each, Math.min(number, head.number - 1))
      this.#confirmed = Math.min(this.#confirmed, head.number - 1)
    }
    const { number, hash, parentHash, timeMs } = head
    this.#followed = { number, hash, parentHash, timeMs, endpoint, seenAtMs: clock.monotonicMs(), isReturn }
    endpoint.isLagging = false
    // The last poll of the others is old by now; endpoints that push would have reported a newer head.
    for (const each of endpoints.all) if (each.isSubscribed) this.#compare(each)
    onHead(this.#followed)
  }

  /** Whether it is on the followed chain, as far as we have it. */
  #isOurs({ number, hash }: Head): boolean {
    const { lineage, book } = this.#options
    if (lineage.at(number)?.hash === hash || lineage.base?.hash === hash) return true
    return this.#followed !== null && book.isBelow(hash, this.#followed.hash)
  }

  #note(endpoint: Endpoint, head: Head): void {
    if (this.#isOurs(head)) this.#knows.set(endpoint, Math.max(head.number, this.#knows.get(endpoint) ?? -1))
  }

  #compare(endpoint: Endpoint): void {
    const [reported, followed] = [this.#reported.get(endpoint), this.#followed]
    if (reported === undefined || followed === null) return
    endpoint.isLagging = followed.number - reported.head.number > this.#inStepBlocks
  }

  /**
   * Endpoints that count as witnesses: polled recently, and not so far behind that they know no block that can still
   * change.
   */
  #live(): readonly Endpoint[] {
    const base = this.#options.lineage.base?.number ?? 0
    return this.#options.endpoints.all.filter(
      each =>
        each.isUsable &&
        !each.isSetAside &&
        (this.#reported.get(each)?.head.number ?? Number.NEGATIVE_INFINITY) >= base,
    )
  }

  #review(): void {
    const live = this.#live()
    const confirmed = live.map(each => this.#knows.get(each) ?? -1).sort((a, b) => b - a)[1] ?? -1
    const isKnown = live.length < 2 || confirmed >= (this.#followed?.number ?? 0)
    if (isKnown) this.#unconfirmedSinceMs = null
    else if (confirmed > this.#confirmed || this.#unconfirmedSinceMs === null)
      this.#unconfirmedSinceMs = this.#options.clock.monotonicMs()
    this.#confirmed = confirmed
  }

  async #reconsider(signal: AbortSignal): Promise<void> {
    const { log, chainId, lineage } = this.#options
    const followed = this.#followed
    if (followed === null) return
    const others = this.#live().filter(each => each !== followed.endpoint)
    const shared = await this.#shared(others, signal)
    if (shared === null || signal.aborted || !this.isUnconfirmed || this.#followed !== followed) return
    const { head } = shared.reported
    if (head.number <= (lineage.base?.number ?? -1)) return
    // Two slow endpoints on the same chain move on and confirm it; if both stand still, the chain ends there.
    const stillMs = this.#options.clock.monotonicMs() - shared.sinceMs
    if (this.#isOurs(head) && stillMs <= this.#unconfirmedMs) return
    this.#setAside(followed)
    log('warn', 'only one endpoint knows the head; returning to one that two others share', {
      chain_id: chainId,
      endpoint: followed.endpoint.name,
      head_number: followed.number,
      shared_number: head.number,
      shared_hash: head.hash,
    })
    this.#follow(shared.endpoint, head, true)
    for (const each of others) this.#note(each, this.#reported.get(each)?.head ?? head)
  }

  /** The highest head that two of these endpoints know, and since when neither has reported a different one. */
  async #shared(
    endpoints: readonly Endpoint[],
    signal: AbortSignal,
  ): Promise<{ readonly endpoint: Endpoint; readonly reported: Reported; readonly sinceMs: number } | null> {
    const all = endpoints
      .flatMap(endpoint => {
        const reported = this.#reported.get(endpoint)
        return reported === undefined ? [] : [{ endpoint, reported }]
      })
      .sort((a, b) => b.reported.head.number - a.reported.head.number)
    for (const [at, low] of all.entries())
      for (const high of all.slice(0, at))
        if (await this.#isKnownTo(high.endpoint, high.reported.head, low.reported.head, signal))
          return { ...low, sinceMs: Math.max(low.reported.sinceMs, high.reported.sinceMs) }
    return null
  }

  async #isKnownTo(endpoint: Endpoint, own: Head, head: Head, signal: AbortSignal): Promise<boolean> {
    if (this.#options.book.isBelow(head.hash, own.hash)) return true
    if (own.number === head.number) return false
    try {
      return (await fetchHeaderByNumber(endpoint, head.number, signal)).hash === head.hash
    } catch (error) {
      if (signal.aborted || isFeedError(error)) return false
      throw error
    }
  }

  #setAside(head: SeenHead): void {
    head.endpoint.isSetAside = true
    this.#aside.set(head.endpoint, [head])
  }

  /** Reads again from an endpoint that was set aside once another knows one of its heads, or when no other is left. */
  #readmit(): void {
    for (const [endpoint, heads] of this.#aside) {
      const others = [...this.#reported]
        .filter(([each]) => each !== endpoint)
        .map(([, { head }]) => head.hash)
      const isKnown = heads.some(head => others.includes(head.hash) || this.#isOurs(head))
      if (heads.length > MOST_ASIDE) heads.shift()
      if (!isKnown && this.#isAnyHeard()) continue
      endpoint.isSetAside = false
      this.#aside.delete(endpoint)
    }
  }

  /** Whether an endpoint that is not set aside has recently reported a head. */
  #isAnyHeard(): boolean {
    const sinceMs = this.#options.clock.monotonicMs() - this.#unconfirmedMs
    return [...this.#heardAtMs].some(([each, atMs]) => !each.isSetAside && atMs >= sinceMs)
  }
}
