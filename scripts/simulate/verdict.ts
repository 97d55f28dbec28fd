/** What a simulation found wrong: the first thing, and when. Whoever catches errors on the way cannot hide it. */
import type { VirtualTime } from './virtualTime.ts'

/** What is held against what, in the words of the report. */
export const LAWS = ['log', 'stream', 'clients', 'pools', 'prices', 'finalChain', 'store', 'endings'] as const
export type Law = (typeof LAWS)[number]

export class Broken extends Error {
  override readonly name = 'Broken'
}

export class Verdict {
  readonly #time: VirtualTime
  readonly #startMs: number
  #failure: Broken | null = null
  readonly checks = Object.fromEntries(LAWS.map(law => [law, 0])) as Record<Law, number>
  /** Times a published state differed from the evaluation of the moment because of an anchor alone. */
  leftBehind = 0

  constructor(time: VirtualTime) {
    this.#time = time
    this.#startMs = time.nowMs
  }

  /** `sentence` says what was seen and what should have been. */
  check(law: Law, holds: boolean, sentence: () => string): void {
    this.checks[law] += 1
    if (holds || this.#failure !== null) return
    const hours = (this.#time.nowMs - this.#startMs) / 3_600_000
    this.#failure = new Broken(`after ${hours.toFixed(4)} h: ${sentence()}`)
  }

  /** Throws what was found, if anything was. */
  assertWhole(): void {
    if (this.#failure !== null) throw this.#failure
  }
}
