/**
 * When to poll for the next head on a node that does not push heads: at the time the block probably appears, estimated
 * from the blocks before. A poll that came too early moves the next one a step later, and one that found its block
 * moves it slightly earlier, so about one poll in six is early and blocks are found soon after they appear.
 *
 * Times are monotonic except those in headers; the offset between the two clocks is part of the estimate.
 */

type Timed = { readonly number: number; readonly timeMs: number }

/** Share of a block time, with a minimum because a poll itself takes a moment. */
const STEP = { share: 0.08, leastMs: 25 } as const
/** This many hits take back one step. */
const HITS_A_STEP = 5
/** After an early poll the following intervals grow by this factor. */
const GROWTH = 1.5
/** Bounds of the longest interval, which is half a block time. */
const REST_MS = { least: 100, most: 4000 } as const
/** Headers give whole seconds, so they predict the next block only when the block time is a multiple of that. */
const HEADER_TICK_MS = 1000
/** Share of a block time by which a measured one may differ from such a multiple; empty slots lengthen it. */
const TICK_SLACK = 0.02
/** Number of blocks used to measure the block time. */
const WINDOW = 64

export class Cadence {
  readonly #configuredMs: number
  readonly #headers: Timed[] = []
  /** Delay between the time in a header and the block's appearance. */
  #latenessMs: number | null = null
  #misses = 0
  #nextMs = Number.NEGATIVE_INFINITY

  /** `blockTimeMs` comes from the configuration; a measurement far from it is ignored. */
  constructor(blockTimeMs: number) {
    this.#configuredMs = blockTimeMs
  }

  /** Monotonic time of the next poll. */
  get nextMs(): number {
    return this.#nextMs
  }

  /** The longest interval between two polls while no block arrives. */
  get restMs(): number {
    return Math.min(Math.max(this.#configuredMs / 2, REST_MS.least), REST_MS.most)
  }

  /** A poll found a new block. */
  found(head: Timed, askedAtMs: number): void {
    this.#measure(head)
    const [blockMs, stepMs] = [this.#blockMs(), this.#stepMs()]
    const sooner = this.#misses === 0 ? stepMs / HITS_A_STEP : 0
    const dueMs = isOfTicks(blockMs)
      ? head.timeMs + blockMs + this.#lateness(askedAtMs - head.timeMs, sooner, stepMs)
      : askedAtMs + blockMs - sooner
    this.#misses = 0
    this.#nextMs = Math.min(Math.max(dueMs, askedAtMs + stepMs), askedAtMs + blockMs)
  }

  /** A poll found nothing new or failed. */
  missed(askedAtMs: number): void {
    const waitMs = Math.min(this.#stepMs() * GROWTH ** this.#misses, this.restMs)
    this.#misses += 1
    this.#nextMs = askedAtMs + waitMs
  }

  /** One late block does not make the next one late, so the estimate moves one step at a time. */
  #lateness(lateMs: number, sooner: number, stepMs: number): number {
    const expectedMs = this.#latenessMs ?? lateMs
    this.#latenessMs =
      this.#misses === 0 ? Math.min(expectedMs, lateMs) - sooner : Math.min(expectedMs + stepMs, lateMs)
    return this.#latenessMs
  }

  #measure(head: Timed): void {
    const last = this.#headers.at(-1)
    // Another branch: measure from its own blocks only.
    if (last !== undefined && head.number <= last.number) this.#headers.length = 0
    this.#headers.push(head)
    if (this.#headers.length > WINDOW) this.#headers.shift()
  }

  #blockMs(): number {
    const [first, last] = [this.#headers[0], this.#headers.at(-1)]
    if (first === undefined || last === undefined || last.number === first.number) return this.#configuredMs
    const measuredMs = (last.timeMs - first.timeMs) / (last.number - first.number)
    return Math.min(Math.max(measuredMs, this.#configuredMs / 2), this.#configuredMs * 2)
  }

  #stepMs(): number {
    return Math.max(this.#blockMs() * STEP.share, STEP.leastMs)
  }
}

function isOfTicks(blockMs: number): boolean {
  const ticks = Math.round(blockMs / HEADER_TICK_MS)
  return ticks > 0 && Math.abs(blockMs - ticks * HEADER_TICK_MS) <= blockMs * TICK_SLACK
}
