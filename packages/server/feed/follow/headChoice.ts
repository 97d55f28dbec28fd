/**
 * Which head to follow (R-health-5): the highest that any endpoint tells of. A header proves nothing about consensus, so
 * it is also watched whether a second endpoint comes to know what is followed; where none does and two others share
 * a head, theirs is followed and the one that was alone is set aside until somebody else knows a head of its own.
 *
 * An endpoint may be several nodes behind one address: an older block of our own chain says nothing new.
 */
import type { Clock } from '../../ops/clock.ts'
import { Condition } from '../condition.ts'
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
  /** Also back to a block of our own chain. */
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

type Told = {
  readonly head: Head | Header
  /** Monotonic time at which it first reported this one. */
  readonly sinceMs: number
}

/** How far behind the head an endpoint may be and still be read from. */
const IN_STEP = { leastMs: 2000, blocks: 2 } as const
/** How long a head may be known to a single endpoint. */
const UNCONFIRMED = { leastMs: 10_000, blocks: 2 } as const
/** Between two looks at an unconfirmed head, and between two searches for one that others share. */
const LOOK_MS = 1000
const SEARCH_MS = 5000
/** Walks to one head that fail before another endpoint's is followed: some seconds at their pace. */
const MOST_BLOCKED = 4
/** Heads of an endpoint that is set aside, by which another may show that it knows them. */
const MOST_ASIDE = 64

export class HeadChoice {
  readonly #options: HeadChoiceOptions
  readonly #inStepBlocks: number
  readonly #unconfirmedMs: number
  readonly #told = new Map<Endpoint, Told>()
  /** The highest block of the followed chain that an endpoint reported. */
  readonly #knows = new Map<Endpoint, number>()
  readonly #aside = new Map<Endpoint, Head[]>()
  readonly #heardAtMs = new Map<Endpoint, number>()
  #followed: SeenHead | null = null
  #blocked: { readonly hash: string; readonly times: number } | null = null
  #confirmed = -1
  /** Monotonic time since which no second endpoint knows a later block. */
  #unconfirmedSinceMs: number | null = null

  constructor(options: HeadChoiceOptions) {
    this.#options = options
    const { blockTimeMs } = options
    this.#inStepBlocks = Math.max(IN_STEP.leastMs / blockTimeMs, IN_STEP.blocks)
    this.#unconfirmedMs = Math.max(UNCONFIRMED.leastMs, UNCONFIRMED.blocks * blockTimeMs)
  }

  /** The endpoint's last reported head. */
  headOf(endpoint: Endpoint): Head | null {
    return this.#told.get(endpoint)?.head ?? null
  }

  /** Whether the followed head has been known to one of several endpoints alone for too long. */
  get isUnconfirmed(): boolean {
    this.#review()
    const sinceMs = this.#unconfirmedSinceMs
    return sinceMs !== null && this.#options.clock.monotonicMs() - sinceMs > this.#unconfirmedMs
  }

  tell(endpoint: Endpoint, head: Head | Header): void {
    this.#options.book.add(head)
    const before = this.#told.get(endpoint)?.head
    const isLate = before !== undefined && head.number < before.number && this.#isOurs(head)
    if (!isLate && head.hash !== before?.hash) {
      this.#told.set(endpoint, { head, sinceMs: this.#options.clock.monotonicMs() })
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

  /** The way to this head is blocked. Where it stays so, its endpoint is left for others that are not as far. */
  doubt(head: SeenHead): void {
    this.#blocked = {
      hash: head.hash,
      times: this.#blocked?.hash === head.hash ? this.#blocked.times + 1 : 1,
    }
    if (this.#blocked.times < MOST_BLOCKED || this.#followed?.hash !== head.hash) return
    const best = this.#live()
      .filter(each => each !== head.endpoint && (this.#knows.get(each) ?? -1) < head.number)
      .map(endpoint => ({ endpoint, head: this.#told.get(endpoint)?.head }))
      .sort((a, b) => (b.head?.number ?? 0) - (a.head?.number ?? 0))[0]
    if (best?.head === undefined) return
    this.#setAside(head)
    this.#follow(best.endpoint, best.head, false)
  }

  /** Runs until the signal aborts: goes back to a head that two endpoints know where one is alone with its own. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#options.endpoints.all.length < 3) return
    const rest = new Condition()
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
    // It may be on another fork: two endpoints on two forks must not take turns in moving the chain.
    const isLeft = !followed.endpoint.isUsable || !followed.endpoint.isInStep
    return isLeft ? ahead >= 0 : ahead > this.#inStepBlocks
  }

  #follow(endpoint: Endpoint, head: Head | Header, isReturn: boolean): void {
    const { clock, onHead, endpoints, book } = this.#options
    const before = this.#followed
    // Perhaps another branch: nobody has shown yet that it knows this very block.
    if (before !== null && !book.isBelow(before.hash, head.hash)) {
      for (const [each, number] of this.#knows) this.#knows.set(each, Math.min(number, head.number - 1))
      this.#confirmed = Math.min(this.#confirmed, head.number - 1)
    }
    const { number, hash, parentHash, timeMs } = head
    this.#followed = { number, hash, parentHash, timeMs, endpoint, seenAtMs: clock.monotonicMs(), isReturn }
    endpoint.isLagging = false
    // The last poll of the others is old by now; endpoints that push would have reported more.
    for (const each of endpoints.all) if (each.isSubscribed) this.#compare(each)
    onHead(this.#followed)
  }

  /** Whether it is on the chain that is followed, as far as we have it. */
  #isOurs({ number, hash }: Head): boolean {
    const { lineage, book } = this.#options
    if (lineage.at(number)?.hash === hash || lineage.base?.hash === hash) return true
    return this.#followed !== null && book.isBelow(hash, this.#followed.hash)
  }

  #note(endpoint: Endpoint, head: Head): void {
    if (this.#isOurs(head)) this.#knows.set(endpoint, Math.max(head.number, this.#knows.get(endpoint) ?? -1))
  }

  #compare(endpoint: Endpoint): void {
    const [told, followed] = [this.#told.get(endpoint), this.#followed]
    if (told === undefined || followed === null) return
    endpoint.isLagging = followed.number - told.head.number > this.#inStepBlocks
  }

  /** Those whose word counts: asked lately, and not so far back that they know nothing of what can still change. */
  #live(): readonly Endpoint[] {
    const base = this.#options.lineage.base?.number ?? 0
    return this.#options.endpoints.all.filter(
      each =>
        each.isUsable &&
        !each.isSetAside &&
        (this.#told.get(each)?.head.number ?? Number.NEGATIVE_INFINITY) >= base,
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
    const { head } = shared.told
    if (head.number <= (lineage.base?.number ?? -1)) return
    // Two that are late on the same chain move on and confirm it; two that stand still say that it ends there.
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
    for (const each of others) this.#note(each, this.#told.get(each)?.head ?? head)
  }

  /** The highest head that two of these know, and since when neither has reported another. */
  async #shared(
    endpoints: readonly Endpoint[],
    signal: AbortSignal,
  ): Promise<{ readonly endpoint: Endpoint; readonly told: Told; readonly sinceMs: number } | null> {
    const all = endpoints
      .flatMap(endpoint => {
        const told = this.#told.get(endpoint)
        return told === undefined ? [] : [{ endpoint, told }]
      })
      .sort((a, b) => b.told.head.number - a.told.head.number)
    for (const [at, low] of all.entries())
      for (const high of all.slice(0, at))
        if (await this.#isKnownTo(high.endpoint, high.told.head, low.told.head, signal))
          return { ...low, sinceMs: Math.max(low.told.sinceMs, high.told.sinceMs) }
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

  /** One that was set aside is read again once somebody else knows a head of its own, or nobody else is left. */
  #readmit(): void {
    for (const [endpoint, heads] of this.#aside) {
      const others = [...this.#told].filter(([each]) => each !== endpoint).map(([, { head }]) => head.hash)
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
