/**
 * How many blocks to ask for at once. It doubles until it is refused. Nodes refuse ranges in many words and codes, so
 * any refusal halves it; it grows back slowly, since a limit that was met once is met again.
 */

const START = 64
const MOST = 16_384
/** Ranges answered in a row, after a refusal, before a longer one is tried. */
const CALM = 8

export class BlockRange {
  #size: number
  #answered = 0
  #wasRefused = false

  constructor(size = START) {
    this.#size = size
  }

  get size(): number {
    return this.#size
  }

  /** A range of this many blocks was refused. */
  refused(blocks: number): void {
    this.#size = Math.max(1, Math.min(this.#size, Math.floor(blocks / 2)))
    this.#answered = 0
    this.#wasRefused = true
  }

  answered(): void {
    if (!this.#wasRefused) {
      this.#size = Math.min(MOST, this.#size * 2)
      return
    }
    this.#answered++
    if (this.#answered < CALM) return
    this.#answered = 0
    this.#size = Math.min(MOST, this.#size + Math.max(1, this.#size >> 2))
  }
}
