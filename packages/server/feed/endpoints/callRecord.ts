/** Recent performance of an endpoint: the share of failed calls, the duration of the others, and the purpose of all. */
import type { Purpose } from './purpose.ts'

/** Enough for a steady median; at one call a second the window covers a minute. */
const WINDOW = 64
/** Fewer calls of a method say little about its usual duration. */
const LEAST_FOR_USUAL = 20
const USUAL_SHARE = 0.95

export type MethodCalls = { readonly method: string; readonly purpose: Purpose; readonly calls: number }

export class CallRecord {
  /** Milliseconds of a successful call, null for a failed one; oldest first. */
  readonly #calls: (number | null)[] = []
  /** Durations of successful calls by method, oldest first. */
  readonly #times = new Map<string, number[]>()
  readonly #kinds = new Map<string, { readonly method: string; readonly purpose: Purpose; calls: number }>()
  /** Calls since the endpoint was opened. */
  total = 0
  totalFailed = 0

  /** A call was sent. */
  began(method: string, purpose: Purpose): void {
    const key = `${method} ${purpose}`
    const kind = this.#kinds.get(key) ?? { method, purpose, calls: 0 }
    kind.calls++
    this.#kinds.set(key, kind)
  }

  succeeded(tookMs: number, method = ''): void {
    this.#add(tookMs)
    const times = this.#times.get(method) ?? []
    times.push(tookMs)
    if (times.length > WINDOW) times.shift()
    this.#times.set(method, times)
  }

  failed(): void {
    this.#add(null)
  }

  /** Between 0 and 1, in thousandths. */
  errorRate(): number {
    if (this.#calls.length === 0) return 0
    const failed = this.#calls.filter(call => call === null).length
    return Math.round((failed * 1000) / this.#calls.length) / 1000
  }

  /** The lower median in whole milliseconds, null before the first successful call. */
  p50Ms(): number | null {
    const times = this.#calls.filter(call => call !== null).sort((a, b) => a - b)
    const middle = times[(times.length - 1) >> 1]
    return middle === undefined ? null : Math.round(middle)
  }

  /** The 95th percentile of the method's successful calls; null until there are enough of them. */
  usualMs(method: string): number | null {
    const times = this.#times.get(method) ?? []
    if (times.length < LEAST_FOR_USUAL) return null
    return times.toSorted((a, b) => a - b)[Math.ceil(times.length * USUAL_SHARE) - 1] ?? null
  }

  /** Calls sent since the endpoint was opened, by method and purpose. */
  get kinds(): readonly MethodCalls[] {
    return [...this.#kinds.values()].map(kind => ({ ...kind }))
  }

  #add(call: number | null): void {
    this.total += 1
    if (call === null) this.totalFailed += 1
    this.#calls.push(call)
    if (this.#calls.length > WINDOW) this.#calls.shift()
  }
}
