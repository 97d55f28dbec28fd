/**
 * Time of a simulation: it stops during every action and jumps from one timer to the next. While installed, it
 * replaces timers, `Date.now` and `Math.random` of the whole process, so that the real parts run on it unchanged;
 * turns of the event loop and promises stay the platform's.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../packages/server/ops/clock.ts'

type Timer = {
  readonly id: number
  readonly run: () => void
  readonly everyMs: number | null
  atMs: number
  isOver: boolean
  /** For a poll: the number of events at its last run, and how long it may be skipped from then on. */
  happened: number
  dozesUntilMs: number
}

/**
 * A repeating timer is a poll: it is skipped while nothing has happened since its last run, except once in this
 * interval. Most of a quiet hour would be polls that find nothing.
 */
const DOZE_MS = 10_000
/** Turns without activity before a moment counts as over: a page of a replay is one turn from the next. */
const QUIET_TURNS = 2
/** A moment that takes more turns than this is an endless loop. */
const MOST_TURNS = 100_000

export class VirtualTime {
  readonly clock: Clock
  readonly #random: () => number
  #nowMs: number
  #nextId = 1
  #done = 0
  /** Timers that ran and were not polls. */
  #happened = 0
  readonly #heap: Timer[] = []

  constructor(startMs: number, random: () => number) {
    this.#nowMs = startMs
    this.#random = random
    this.clock = { nowMs: () => this.#nowMs, monotonicMs: () => this.#nowMs - startMs }
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** Something happened, so the moment is not over yet. */
  touch(): void {
    this.#done += 1
  }

  after(waitMs: number, run: () => void): () => void {
    const timer = this.#add(waitMs, run, null)
    return () => {
      timer.isOver = true
    }
  }

  pause(waitMs: number): Promise<void> {
    return new Promise(resolve => {
      this.after(waitMs, resolve)
    })
  }

  /** Replaces the platform's time with this one; the returned function restores it. */
  install(): () => void {
    const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis
    const [now, random] = [Date.now, Math.random]
    const timeout = Object.getOwnPropertyDescriptor(AbortSignal, 'timeout') as PropertyDescriptor
    const handle = (timer: Timer) => ({ unref: () => handle(timer), ref: () => handle(timer), timer })
    const clear = (given: { timer?: Timer } | undefined) => {
      if (given?.timer !== undefined) given.timer.isOver = true
    }
    Object.assign(globalThis, {
      setTimeout: (run: () => void, waitMs = 0) => handle(this.#add(waitMs, run, null)),
      setInterval: (run: () => void, everyMs: number) => handle(this.#add(everyMs, run, everyMs)),
      clearTimeout: clear,
      clearInterval: clear,
    })
    Date.now = () => this.#nowMs
    Math.random = this.#random
    AbortSignal.timeout = waitMs => {
      const controller = new AbortController()
      this.after(waitMs, () => controller.abort(new DOMException('timed out', 'TimeoutError')))
      return controller.signal
    }
    return () => {
      Object.assign(globalThis, { setTimeout, setInterval, clearTimeout, clearInterval })
      Date.now = now
      Math.random = random
      Object.defineProperty(AbortSignal, 'timeout', timeout)
    }
  }

  /** Runs everything up to `untilMs`, one timer after the other, each to its end. */
  async run(untilMs: number, onMoment: () => void): Promise<void> {
    await this.#settle()
    for (let timer = this.#next(untilMs); timer !== null; timer = this.#next(untilMs)) {
      const before = this.#done
      timer.run()
      // A poll without effects has found nothing.
      if (timer.everyMs === null || before !== this.#done) await this.#settle()
      onMoment()
    }
    this.#nowMs = Math.max(this.#nowMs, untilMs)
  }

  async #settle(): Promise<void> {
    let quiet = 0
    for (let turns = 0; quiet < QUIET_TURNS; turns++) {
      if (turns > MOST_TURNS) throw new Error(`the moment ${this.#nowMs} does not end`)
      const before = this.#done
      await turn()
      quiet = before === this.#done ? quiet + 1 : 0
    }
  }

  #add(waitMs: number, run: () => void, everyMs: number | null): Timer {
    this.touch()
    const atMs = this.#nowMs + Math.max(1, Math.ceil(waitMs))
    const timer: Timer = {
      id: this.#nextId++,
      run,
      everyMs,
      atMs,
      isOver: false,
      happened: -1,
      dozesUntilMs: 0,
    }
    this.#push(timer)
    return timer
  }

  /**
   * Advances to the next timer that is due by `untilMs`. A repeating timer is entered again, and skipped while it
   * dozes.
   */
  #next(untilMs: number): Timer | null {
    for (;;) {
      const first = this.#heap[0]
      if (first === undefined || first.atMs > untilMs) return null
      this.#shift()
      if (first.isOver) continue
      const { atMs, everyMs } = first
      if (everyMs === null) {
        this.#happened += 1
        first.isOver = true
      } else {
        first.atMs += Math.max(1, everyMs)
        this.#push(first)
        if (first.happened === this.#happened && atMs < first.dozesUntilMs) continue
        first.happened = this.#happened
        first.dozesUntilMs = atMs + DOZE_MS
      }
      this.#nowMs = atMs
      return first
    }
  }

  #push(timer: Timer): void {
    const heap = this.#heap
    let at = heap.push(timer) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(timer, heap[parent] as Timer)) break
      heap[at] = heap[parent] as Timer
      at = parent
    }
    heap[at] = timer
  }

  #shift(): void {
    const heap = this.#heap
    const last = heap.pop() as Timer
    if (heap.length === 0) return
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) child += 1
      if (!isBefore(heap[child] as Timer, last)) break
      heap[at] = heap[child] as Timer
      at = child
    }
    heap[at] = last
  }
}

/** For the same moment, the timer that was set first. */
const isBefore = (a: Timer, b: Timer): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.id < b.id)
