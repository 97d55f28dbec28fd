/** How far a long test has come and how long it has still to go, on stderr at most every few seconds. A short one prints nothing. */

const EVERY_MS = 10_000

export class Progress {
  readonly #what: string
  readonly #total: number
  readonly #startedMs = performance.now()
  #printedMs = this.#startedMs

  constructor(what: string, total: number) {
    this.#what = what
    this.#total = total
  }

  reached(count: number): void {
    const nowMs = performance.now()
    if (nowMs - this.#printedMs < EVERY_MS || count === 0) return
    this.#printedMs = nowMs
    const tookMs = nowMs - this.#startedMs
    const leftMs = (tookMs * Math.max(0, this.#total - count)) / count
    const share = Math.floor((100 * count) / this.#total)
    process.stderr.write(
      `${this.#what}: ${count} of ${this.#total} (${share}%), ${clock(tookMs)} gone, about ${clock(leftMs)} to go\n`,
    )
  }
}

function clock(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
