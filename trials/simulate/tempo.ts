/**
 * The amount of activity in a world. Most of a long life is quiet: an occasional block, hardly a trade, hardly a
 * fault. Occasionally there is a storm, in which everything happens at once. A life begins in one.
 */
import type { Random } from '../../packages/engine/testing/randomMarket.ts'
import type { VirtualTime } from './virtualTime.ts'

const MINUTE_MS = 60_000
/** The first storm is long enough for all kinds of faults, so that a short life has them too. */
const FIRST_STORM_MS = 8 * MINUTE_MS
const LONGEST_STORM_MS = 10 * MINUTE_MS
const LONGEST_QUIET_MS = 480 * MINUTE_MS

/** The mean interval of an event, in storms and in quiet periods. */
export type Pace = { readonly stormMs: number; readonly quietMs: number }

export class Tempo {
  readonly #time: VirtualTime
  readonly #randomOf: (name: string) => Random
  readonly #onStorm: () => void
  readonly #often: (() => void)[] = []
  #isStormy = true
  #isCalm = false

  constructor(time: VirtualTime, randomOf: (name: string) => Random, onStorm: () => void) {
    this.#time = time
    this.#randomOf = randomOf
    this.#onStorm = onStorm
  }

  get isStormy(): boolean {
    return this.#isStormy
  }

  get isCalm(): boolean {
    return this.#isCalm
  }

  begin(): void {
    const random = this.#randomOf('tempo')
    this.#onStorm()
    const turn = (): void => {
      this.#isStormy = !this.#isStormy
      if (this.#isStormy) this.#onStorm()
      for (const schedule of this.#often) schedule()
      this.#time.after(random.below(this.#isStormy ? LONGEST_STORM_MS : LONGEST_QUIET_MS), turn)
    }
    this.#time.after(FIRST_STORM_MS, turn)
  }

  /** From here on there are no random events. */
  calm(): void {
    this.#isCalm = true
  }

  of({ stormMs, quietMs }: Pace): number {
    return this.#isStormy ? stormMs : quietMs
  }

  /** Repeats at random intervals until the world is calm. */
  often(name: string, pace: Pace, happen: () => void): void {
    const random = this.#randomOf(name)
    let cancel = (): void => undefined
    const schedule = (): void => {
      cancel()
      cancel = this.#time.after(random.below(this.of(pace) * 2), () => {
        if (this.#isCalm) return
        happen()
        schedule()
      })
    }
    this.#often.push(schedule)
    schedule()
  }
}
