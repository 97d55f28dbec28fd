/** Which chains have a living writer, as seen by who does not want to be one. */
import type { Clock } from '../ops/clock.ts'
import type { SeatStore } from '../store/cluster.ts'

const LOOK_MS = 1000
/** A little longer than others wait before they take a silent one's place. */
const SILENT_MS = 6000

export class SeatWatch {
  readonly #seats: SeatStore
  readonly #clock: Clock
  readonly #seen = new Map<
    number,
    { readonly beats: number; readonly owner: string; readonly sinceMs: number }
  >()
  readonly #timer: NodeJS.Timeout

  private constructor(seats: SeatStore, clock: Clock) {
    this.#seats = seats
    this.#clock = clock
    this.#timer = setInterval(() => void this.#look().catch(() => undefined), LOOK_MS)
    this.#timer.unref()
  }

  static async open(seats: SeatStore, clock: Clock): Promise<SeatWatch> {
    const watch = new SeatWatch(seats, clock)
    await watch.#look()
    return watch
  }

  isHeld(chainId: number): boolean {
    const seen = this.#seen.get(chainId)
    return seen !== undefined && seen.owner !== '' && this.#clock.monotonicMs() - seen.sinceMs < SILENT_MS
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    const views = await this.#seats.readSeats()
    for (const { chainId, beats, owner } of views) {
      const seen = this.#seen.get(chainId)
      if (seen?.beats === beats && seen.owner === owner) continue
      this.#seen.set(chainId, { beats, owner, sinceMs: this.#clock.monotonicMs() })
    }
  }
}
