/**
 * How far a node is behind the log: how long it has been missing records that already exist. A node on a slow replica,
 * or an overloaded one, reports this before its clients notice.
 */
import type { Clock } from '../ops/clock.ts'
import type { LogStore, Sequence } from '../store/port.ts'
import type { Hub } from './hub.ts'

const LOOK_MS = 500

export class NodeLag {
  readonly #hub: Hub
  readonly #store: LogStore
  readonly #clock: Clock
  readonly #timer: NodeJS.Timeout
  /** The head at that time. */
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

  /** How long records have been missing here. */
  get behindMs(): number {
    return this.#hub.head >= this.#goal.head ? 0 : this.#clock.monotonicMs() - this.#goal.atMs
  }

  /** How long the store has not reported the head of its log. */
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
