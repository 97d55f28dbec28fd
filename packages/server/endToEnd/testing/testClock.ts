/** A clock that only a test advances: hours pass in no time, and nothing passes by itself. */
import type { Clock } from '../../ops/clock.ts'

export class StoppedClock implements Clock {
  /** How often somebody has looked at it: a way to see that a periodic check has passed. */
  looks = 0
  #nowMs = Date.now()
  /** A whole number: beside a fraction, four seconds later can be a rounding error more than four seconds. */
  #monotonicMs = Math.ceil(performance.now())

  nowMs(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    this.looks += 1
    return this.#monotonicMs
  }

  /** Somebody sets the time. */
  set(ms: number): void {
    this.#nowMs += ms
  }

  advance(ms: number): void {
    this.#nowMs += ms
    this.#monotonicMs += ms
  }
}
