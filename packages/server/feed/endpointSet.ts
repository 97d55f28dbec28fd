/**
 * The endpoints of a chain and the order in which they are asked.
 *
 * One of them is the primary: heads come from it alone, and it stays while it can be used, so that two nodes
 * on different forks do not take turns in moving the chain.
 */
import type { Clock } from '../ops/clock.ts'
import type { Endpoint } from './endpoint.ts'
import { FeedError, isFeedError } from './feedError.ts'
import { RetryBudget } from './retryBudget.ts'

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

  /** Null while none can be used. */
  get primary(): Endpoint | null {
    if (this.#primary === null || !this.#primary.isUsable || this.#primary.isLagging)
      this.#primary = this.#ranked()[0] ?? null
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

  /** False when every endpoint serves another chain. */
  get hasIdentity(): boolean {
    return this.all.some(({ wrongIdentity }) => wrongIdentity === null)
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
   * An error that `isFinal` is the same everywhere and ends it. Every try but the first takes from the budget.
   */
  async attempt<Result>(
    task: (endpoint: Endpoint) => Promise<Result>,
    isFinal: (error: FeedError) => boolean = () => false,
  ): Promise<Result> {
    const errors: FeedError[] = []
    for (const endpoint of this.#inOrder()) {
      if (errors.length > 0 && !this.#retries.spend()) break
      try {
        return await task(endpoint)
      } catch (error) {
        if (!isFeedError(error) || isFinal(error)) throw error
        errors.push(error)
        if (error.code === 'BLOCK_REFUSED') endpoint.blame(error)
      }
    }
    throw errors.find(({ code }) => code !== 'BLOCK_REFUSED') ?? errors[0] ?? this.#none()
  }

  #inOrder(): readonly Endpoint[] {
    const { primary } = this
    return primary === null ? [] : [primary, ...this.#ranked().filter(endpoint => endpoint !== primary)]
  }

  /** Those that can be used: the lagging last, then by errors, then by speed. */
  #ranked(): readonly Endpoint[] {
    return this.all
      .filter(({ isUsable }) => isUsable)
      .sort(
        (a, b) =>
          Number(a.isLagging) - Number(b.isLagging) ||
          a.errorRate - b.errorRate ||
          (a.p50Ms ?? 0) - (b.p50Ms ?? 0),
      )
  }

  #none(): FeedError {
    const names = this.all.map(({ name, status }) => `${name} (${status})`).join(', ')
    return new FeedError('NO_ENDPOINT', null, `no endpoint can be asked: ${names}`)
  }
}
