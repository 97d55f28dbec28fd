/** The first fault that a simulation found, and when. Code that catches errors on the way cannot hide it. */
import type { VirtualTime } from './virtualTime.ts'

/** The compared pairs, as named in the report. */
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
  /** How often a published state differed from the present evaluation because of an anchor alone. */
  leftBehind = 0

  constructor(time: VirtualTime) {
    this.#time = time
    this.#startMs = time.nowMs
  }

  /** `sentence` states the observed and the expected result. */
  check(law: Law, holds: boolean, sentence: () => string): void {
    this.checks[law] += 1
    if (holds || this.#failure !== null) return
    const hours = (this.#time.nowMs - this.#startMs) / 3_600_000
    this.#failure = new Broken(`after ${hours.toFixed(4)} h: ${sentence()}`)
  }

  /** Throws the fault, if there was one. */
  assertWhole(): void {
    if (this.#failure !== null) throw this.#failure
  }
}
