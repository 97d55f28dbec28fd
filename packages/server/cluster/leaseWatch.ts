/** Which chains have a running writer, for processes that do not take part in the election. */
import type { Clock } from '../ops/clock.ts'
import type { LeaseStore } from '../store/cluster.ts'

const POLL_MS = 1000
/** A little longer than the election waits before it replaces a silent writer. */
const SILENT_MS = 6000

export class LeaseWatch {
  readonly #leases: LeaseStore
  readonly #clock: Clock
  readonly #seen = new Map<
    number,
    { readonly beats: number; readonly owner: string; readonly sinceMs: number }
  >()
  readonly #timer: NodeJS.Timeout

  private constructor(leases: LeaseStore, clock: Clock) {
    this.#leases = leases
    this.#clock = clock
    this.#timer = setInterval(() => void this.#look().catch(() => undefined), POLL_MS)
    this.#timer.unref()
  }

  static async open(leases: LeaseStore, clock: Clock): Promise<LeaseWatch> {
    const watch = new LeaseWatch(leases, clock)
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
    const views = await this.#leases.readLeases()
    for (const { chainId, beats, owner } of views) {
      const seen = this.#seen.get(chainId)
      if (seen?.beats === beats && seen.owner === owner) continue
      this.#seen.set(chainId, { beats, owner, sinceMs: this.#clock.monotonicMs() })
    }
  }
}
