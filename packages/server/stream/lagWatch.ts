/**
 * How far a node is behind the log: how long it has lacked something that was already there. A node on a replica, or
 * one that is overloaded, says so before its clients find out.
 */
import type { Clock } from '../ops/clock.ts'
import type { LogStore, Sequence } from '../store/port.ts'
import type { Hub } from './hub.ts'

const LOOK_MS = 500

export class LagWatch {
  readonly #hub: Hub
  readonly #store: LogStore
  readonly #clock: Clock
  readonly #timer: NodeJS.Timeout
  /** The head as it was then. */
  #goal: { readonly head: Sequence; readonly atMs: number }
  #heardAtMs: number

  constructor(hub: Hub, store: LogStore, clock: Clock) {
    this.#hub = hub
    this.#store = store
    this.#clock = clock
    this.#heardAtMs = clock.monotonicMs()
    this.#goal = { head: 0, atMs: this.#heardAtMs }
    this.#timer = setInterval(() => void this.#look().catch(() => undefined), LOOK_MS)
    this.#timer.unref()
  }

  /** For how long something has been missing here. */
  get behindMs(): number {
    return this.#hub.head >= this.#goal.head ? 0 : this.#clock.monotonicMs() - this.#goal.atMs
  }

  /** For how long the store has not said where its log ends. */
  get silentMs(): number {
    return this.#clock.monotonicMs() - this.#heardAtMs
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    const { head } = await this.#store.readBounds()
    const atMs = this.#clock.monotonicMs()
    this.#heardAtMs = atMs
    if (this.behindMs === 0) this.#goal = { head, atMs }
  }
}
