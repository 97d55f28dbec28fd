/**
 * When to ask a node that does not push its heads for the next one: at the time it is likely to be there, learned from the
 * blocks before. A question that came too early moves the next one a step later, one that found its block a little
 * earlier, so that about one question in six comes too early and a block is found soon after it is there.
 *
 * Times are monotonic but for those in headers; the difference between the two clocks is part of what is learned.
 */

type Timed = { readonly number: number; readonly timeMs: number }

/** Of a block time, and never less: a question takes a moment itself. */
const STEP = { share: 0.08, leastMs: 25 } as const
/** Hits that take back one step. */
const HITS_A_STEP = 5
/** After a question that came too early the next ones follow at growing distances. */
const GROWTH = 1.5
/** The longest distance: half a block time, within these. */
const REST_MS = { least: 100, most: 4000 } as const
/** Headers count time in whole seconds: they tell when the next block comes where its time is a multiple of that. */
const HEADER_TICK_MS = 1000
/** Of a block time, by which a measured one may differ from such a multiple; slots without a block make it longer. */
const TICK_SLACK = 0.02
/** Blocks that the block time is measured over. */
const WINDOW = 64

export class Cadence {
  readonly #configuredMs: number
  readonly #headers: Timed[] = []
  /** How long after the time in its header a block is there. */
  #latenessMs: number | null = null
  #misses = 0
  #nextMs = Number.NEGATIVE_INFINITY

  /** `blockTimeMs` of the configuration: what was measured is not believed when it is far from it. */
  constructor(blockTimeMs: number) {
    this.#configuredMs = blockTimeMs
  }

  /** Monotonic time of the next question. */
  get nextMs(): number {
    return this.#nextMs
  }

  /** The longest time between two questions where no block comes. */
  get restMs(): number {
    return Math.min(Math.max(this.#configuredMs / 2, REST_MS.least), REST_MS.most)
  }

  /** A question found a new block. */
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

  /** A question found nothing new, or was not answered. */
  missed(askedAtMs: number): void {
    const waitMs = Math.min(this.#stepMs() * GROWTH ** this.#misses, this.restMs)
    this.#misses += 1
    this.#nextMs = askedAtMs + waitMs
  }

  /** One block that came late does not make the next one late: a step at a time. */
  #lateness(lateMs: number, sooner: number, stepMs: number): number {
    const expectedMs = this.#latenessMs ?? lateMs
    this.#latenessMs =
      this.#misses === 0 ? Math.min(expectedMs, lateMs) - sooner : Math.min(expectedMs + stepMs, lateMs)
    return this.#latenessMs
  }

  #measure(head: Timed): void {
    const last = this.#headers.at(-1)
    // Another branch: its times are measured from its own blocks.
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
