/**
 * Progress of long work, on standard error so that a command's output stays clean: a bar that redraws itself on a
 * terminal, and elsewhere an occasional line.
 */
const WIDTH = 24
/** The interval between lines without a terminal, so that a log does not fill up. */
const LINE_MS = 10_000
const FRAME_MS = 100

export class Progress {
  readonly #what: string
  readonly #startedAt = performance.now()
  /** Work that ends before the first line is due prints none. */
  #shownAt = process.stderr.isTTY ? Number.NEGATIVE_INFINITY : performance.now()
  #isDrawn = false
  #awaited = ''
  #timer: NodeJS.Timeout | undefined

  constructor(what: string) {
    this.#what = what
  }

  /** For work of unknown length: shows that time passes. */
  tick(): this {
    if (process.stderr.isTTY) {
      this.#timer = setInterval(
        () => this.#draw(`${this.#what} … ${this.#seconds()} s${this.#awaited}`),
        FRAME_MS,
      )
      this.#timer.unref()
    }
    return this
  }

  /** The current step of the work, next to the elapsed time. */
  detail(words: string): void {
    this.#awaited = `, ${words}`
    const now = performance.now()
    if (process.stderr.isTTY || now - this.#shownAt < LINE_MS) return
    this.#shownAt = now
    process.stderr.write(`${this.#what}: ${words}\n`)
  }

  /** `share` from 0 to 1. */
  show(share: number, words: string): void {
    const now = performance.now()
    if (now - this.#shownAt < (process.stderr.isTTY ? FRAME_MS : LINE_MS)) return
    this.#shownAt = now
    const percent = `${(Math.min(1, Math.max(0, share)) * 100).toFixed(0).padStart(3)}%`
    if (!process.stderr.isTTY) process.stderr.write(`${this.#what}: ${percent.trim()}, ${words}\n`)
    else this.#draw(`${this.#what} ${bar(share)} ${percent}  ${words}`)
  }

  /** A permanent line above the bar. */
  note(line: string): void {
    this.#clear()
    process.stderr.write(`${line}\n`)
  }

  /** Removes the bar. */
  end(): void {
    clearInterval(this.#timer)
    this.#clear()
  }

  #clear(): void {
    if (this.#isDrawn) process.stderr.write('\r\u001B[2K')
    this.#isDrawn = false
  }

  #draw(line: string): void {
    this.#isDrawn = true
    const room = Math.max(20, (process.stderr.columns || 80) - 1)
    process.stderr.write(`\r\u001B[2K${line.length > room ? line.slice(0, room) : line}`)
  }

  #seconds(): string {
    return ((performance.now() - this.#startedAt) / 1000).toFixed(1)
  }
}

/** Runs a task and shows that it is still running. */
export async function during<Result>(what: string, task: () => Promise<Result>): Promise<Result> {
  const progress = new Progress(what).tick()
  try {
    return await task()
  } finally {
    progress.end()
  }
}

function bar(share: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * WIDTH)
  return '█'.repeat(full) + '░'.repeat(WIDTH - full)
}
