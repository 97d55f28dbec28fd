/**
 * The endpoints of a chain and the order in which they are asked.
 *
 * One of them is the primary: it is asked first and stays while it can be used and keeps up with the others. One that is
 * behind the head, or alone with its own, is not asked while another can be; its heads are read all the same.
 */
import type { Clock } from '../../ops/clock.ts'
import type { Endpoint } from './endpoint.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import { hedged, type Try } from './hedge.ts'
import { RetryBudget } from './retryBudget.ts'

/** What makes a question one that is asked again while its answer is late. */
export type Ask = {
  /** The call that takes longest in it: its usual time says when an answer is late. */
  readonly method: string
  readonly signal: AbortSignal
  /** Asked before the primary, as it is known to have the answer. */
  readonly first?: Endpoint | null
  /** No other is asked. */
  readonly only?: Endpoint
  /** Its answer may be large: it is late later, and asked for a second time at most. */
  readonly isLarge?: boolean
}

/** A late answer: never sooner than this, since a busy machine is late by itself. */
const LEAST_LATE_MS = 250
/** A node is silent while it makes an answer of many megabytes, and each further try makes it build the answer again. */
const LARGE = { leastLateMs: 1000, mostTries: 2 } as const
/** Before the usual time is known. */
const FIRST_LATE_MS = 1000
/** Tries under way for one question; of four, at one loss in ten, all are lost once in ten thousand. */
const MOST_TRIES = 4

export class EndpointSet {
  readonly all: readonly Endpoint[]
  readonly #clock: Clock
  readonly #retries: RetryBudget
  #primary: Endpoint | null = null

  constructor(all: readonly Endpoint[], clock: Clock) {
    this.all = all
    this.#clock = clock
    this.#retries = new RetryBudget(clock)
  }

  /** Null while none can be used. One that pushes its heads is preferred: it costs a call less a block. */
  get primary(): Endpoint | null {
    const current = this.#primary
    const isKept =
      current?.isUsable === true &&
      current.isInStep &&
      (current.isSubscribed || !this.all.some(each => each.isSubscribed && each.isUsable && each.isInStep))
    if (!isKept) this.#primary = this.#ranked()[0] ?? null
    return this.#primary
  }

  /** Milliseconds until one of them may be asked; 0 when one may be now. */
  waitMs(): number {
    return Math.min(...this.all.map(each => this.waitMsFor(each)))
  }

  /** Milliseconds until this one may be asked; infinite once it is closed. */
  waitMsFor({ usableAtMs }: Endpoint): number {
    return Math.max(0, usableAtMs - this.#clock.monotonicMs())
  }

  /** False while none has shown that it serves the chain. */
  get hasIdentity(): boolean {
    return this.all.some(({ isIdentified }) => isIdentified)
  }

  /** Whether each of them has been tried and none serves the chain. */
  get isHopeless(): boolean {
    return this.all.every(({ isIdentified, hasFailed }) => !isIdentified && hasFailed)
  }

  /** Whether two of them or more can be asked, and all of those say that nothing comes after this block. */
  isLast(number: number): boolean {
    const asked = this.all.filter(
      ({ isUsable, status, head }) => isUsable && status === 'OK' && head !== null,
    )
    return asked.length >= 2 && asked.every(({ head }) => head === number)
  }

  /**
   * Runs the task on one endpoint after another, the primary first, until it succeeds. Answers that failed a
   * check are held against their endpoint. BLOCK_REFUSED comes out only when every one of them was refused.
   * An error that `isFinal` is the same everywhere and ends it. With `ask` an answer that is late is asked for elsewhere, or
   * again where there is no other endpoint. Every try but the first takes from the budget.
   */
  async attempt<Result>(
    task: (endpoint: Endpoint, signal: AbortSignal) => Promise<Result>,
    isFinal: (error: FeedError) => boolean = () => false,
    ask: Ask | null = null,
  ): Promise<Result> {
    const order = this.#inOrder(ask)
    const errors: FeedError[] = []
    const failed = new Set<Endpoint>()
    const tries = new Map<Try<Result>, Endpoint>()
    const next = (isRetry: boolean): Try<Result> | null => {
      const left = order.filter(each => !failed.has(each))
      const tried = [...tries.values()]
      const untried = left.find(each => !tried.includes(each))
      const endpoint = untried ?? (isRetry ? undefined : left[tries.size % Math.max(1, left.length)])
      const mostTries = ask?.isLarge === true ? LARGE.mostTries : MOST_TRIES
      const isLimited = tries.size >= mostTries && (untried === undefined || !isRetry)
      if (endpoint === undefined || isLimited) return null
      if (tries.size > 0 && !this.#retries.spend()) return null
      const attempt: Try<Result> = async signal => {
        try {
          return await task(endpoint, signal)
        } catch (error) {
          if (isFeedError(error) && !signal.aborted) {
            failed.add(endpoint)
            if (error.code === 'BLOCK_REFUSED') endpoint.blame(error)
          }
          throw error
        }
      }
      tries.set(attempt, endpoint)
      return attempt
    }
    const answer = await hedged<Result>({
      next,
      waitMs: count => (ask === null ? null : lateMs([...tries.values()].at(-1), ask) * 2 ** (count - 1)),
      onFailure: error => {
        if (!isFeedError(error) || isFinal(error)) throw error
        errors.push(error)
      },
      onOvertaken: attempt => tries.get(attempt)?.overtaken(),
      signal: ask?.signal ?? null,
    })
    if (answer !== null) return answer.result
    throw errors.find(({ code }) => code !== 'BLOCK_REFUSED') ?? errors[0] ?? this.#none()
  }

  #inOrder(ask: Ask | null): readonly Endpoint[] {
    if (ask?.only !== undefined) return [ask.only]
    const { primary } = this
    if (primary === null) return []
    const ranked = this.#ranked()
    const first = ask?.first
    const isFirst = first !== undefined && first !== null && ranked.includes(first)
    return [...new Set([...(isFirst ? [first] : []), primary, ...ranked])]
  }

  /** Those that can be used, by heads that are pushed, by errors, by speed. The ones out of step only when there is no other. */
  #ranked(): readonly Endpoint[] {
    const usable = this.all.filter(({ isUsable }) => isUsable)
    const inStep = usable.filter(({ isInStep }) => isInStep)
    return (inStep.length > 0 ? inStep : usable).sort(
      (a, b) =>
        Number(b.isSubscribed) - Number(a.isSubscribed) ||
        a.errorRate - b.errorRate ||
        (a.p50Ms ?? 0) - (b.p50Ms ?? 0),
    )
  }

  #none(): FeedError {
    const names = this.all.map(({ name, status }) => `${name} (${status})`).join(', ')
    return new FeedError('NO_ENDPOINT', null, `no endpoint is usable: ${names}`)
  }
}

const lateMs = (endpoint: Endpoint | undefined, { method, isLarge }: Ask): number =>
  Math.max(endpoint?.usualMs(method) ?? FIRST_LATE_MS, isLarge === true ? LARGE.leastLateMs : LEAST_LATE_MS)
