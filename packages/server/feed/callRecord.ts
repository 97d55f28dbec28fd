/** How an endpoint did of late: the share of failed calls and the median time of the others. */

/** Enough for a steady median; at one call a second it forgets in a minute. */
const WINDOW = 64

export class CallRecord {
  /** Milliseconds of a good call, null for a failed one; oldest first. */
  readonly #calls: (number | null)[] = []
  /** Of its whole life. */
  total = 0
  totalFailed = 0

  succeeded(tookMs: number): void {
    this.#add(tookMs)
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

  /** The lower median in whole milliseconds, null before the first good call. */
  p50Ms(): number | null {
    const times = this.#calls.filter(call => call !== null).sort((a, b) => a - b)
    const middle = times[(times.length - 1) >> 1]
    return middle === undefined ? null : Math.round(middle)
  }

  #add(call: number | null): void {
    this.total += 1
    if (call === null) this.totalFailed += 1
    this.#calls.push(call)
    if (this.#calls.length > WINDOW) this.#calls.shift()
  }
}
