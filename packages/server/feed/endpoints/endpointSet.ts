/**
 * The endpoints of a chain and their order of use. The primary is used first and stays primary while it is usable and
 * keeps up with the others. An endpoint that is behind the head, or alone with its own, serves no calls while another
 * can; its heads are still watched.
 */
import type { Clock } from '../../ops/clock.ts'
import type { Endpoint } from './endpoint.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import { hedged, type Try } from './hedge.ts'
import { RetryBudget } from './retryBudget.ts'

/** Allows a hedged request: a late answer triggers another attempt. */
export type Ask = {
  /** The slowest call of the request: its usual time decides when the answer counts as late. */
  readonly method: string
  readonly signal: AbortSignal
  /** Tried before the primary, because it is known to have the answer. */
  readonly first?: Endpoint | null
  /** Use this endpoint and no other. */
  readonly only?: Endpoint
  /** The answer may be large: it counts as late only after a longer time, and is requested twice at most. */
  readonly isLarge?: boolean
}

/** An answer is never considered late before this, because a busy machine delays answers itself. */
const LEAST_LATE_MS = 250
/**
 * A node is silent while it builds an answer of many megabytes, and each further attempt makes it build the answer
 * again.
 */
const LARGE = { leastLateMs: 1000, mostTries: 2 } as const
/** The limit until the usual time is known. */
const FIRST_LATE_MS = 1000
/** Concurrent attempts for one request: at a loss of one in ten, all four are lost once in ten thousand. */
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

  /** Null while none is usable. An endpoint that pushes its heads is preferred: it saves one call per block. */
  get primary(): Endpoint | null {
    const current = this.#primary
    const isKept =
      current?.isUsable === true &&
      current.isInStep &&
      (current.isSubscribed || !this.all.some(each => each.isSubscribed && each.isUsable && each.isInStep))
    if (!isKept) this.#primary = this.#ranked()[0] ?? null
    return this.#primary
  }

  /** Milliseconds until some endpoint may be used; 0 when one may be used now. */
  waitMs(): number {
    return Math.min(...this.all.map(each => this.waitMsFor(each)))
  }

  /** Milliseconds until this endpoint may be used; infinite once it is closed. */
  waitMsFor({ usableAtMs }: Endpoint): number {
    return Math.max(0, usableAtMs - this.#clock.monotonicMs())
  }

  /** False until one has proven that it serves the chain. */
  get hasIdentity(): boolean {
    return this.all.some(({ isIdentified }) => isIdentified)
  }

  /** Whether all of them have been tried and none serves the chain. */
  get isHopeless(): boolean {
    return this.all.every(({ isIdentified, hasFailed }) => !isIdentified && hasFailed)
  }

  /** Whether at least two endpoints are usable and none of those knows a later block. */
  isLast(number: number): boolean {
    const asked = this.all.filter(
      ({ isUsable, status, head }) => isUsable && status === 'OK' && head !== null,
    )
    return asked.length >= 2 && asked.every(({ head }) => head === number)
  }

  /**
   * Runs the task on one endpoint after another, the primary first, until it succeeds. An answer that failed a check
   * counts against its endpoint; BLOCK_REFUSED is thrown only when every answer was refused. An error that `isFinal` is
   * the same everywhere and ends the loop. With `ask`, a late answer is requested from another endpoint, or again from
   * the same one if there is no other. Every attempt but the first takes from the budget.
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

  /** Usable endpoints, ordered by pushed heads, errors and speed. Those out of step only when there is no other. */
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
