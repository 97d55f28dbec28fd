/** The machine's clock, set ahead by what a test says: hours pass in no time. */
import type { Clock } from '../../ops/clock.ts'

export class TestClock implements Clock {
  #aheadMs = 0

  nowMs(): number {
    return Date.now() + this.#aheadMs
  }

  monotonicMs(): number {
    return performance.now() + this.#aheadMs
  }

  advance(ms: number): void {
    this.#aheadMs += ms
  }
}

/** Stands still until it is told to go on. */
export class StoppedClock implements Clock {
  /** How often somebody has looked at it: a way to see that a periodic check has passed. */
  looks = 0
  #nowMs = Date.now()
  #monotonicMs = performance.now()

  nowMs(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    this.looks += 1
    return this.#monotonicMs
  }

  advance(ms: number): void {
    this.#nowMs += ms
    this.#monotonicMs += ms
  }
}
