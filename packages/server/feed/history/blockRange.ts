/**
 * How many blocks to ask for at once. It doubles until it is refused. Nodes refuse ranges in many words and codes, so
 * any refusal halves it; it grows back slowly, since a limit that was met once is met again.
 */

const START = 16
const MOST = 16_384
/** In one answer, about a megabyte: where there is much, ranges shrink before the node refuses them. */
const LOGS = 2000
/** Ranges answered in a row, after a refusal, before a longer one is tried. */
const CALM = 8

export class BlockRange {
  #size: number
  #answered = 0
  #wasRefused = false
  #isSettled = false

  constructor(size = START) {
    this.#size = size
  }

  get size(): number {
    return this.#size
  }

  /** Whether it has met a limit, of the node, of an answer or its own: until then every answer may be far longer. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  /** A range of this many blocks was refused. */
  refused(blocks: number): void {
    this.#size = Math.max(1, Math.min(this.#size, Math.floor(blocks / 2)))
    this.#answered = 0
    this.#wasRefused = true
    this.#isSettled = true
  }

  /** A range of this many blocks had so many logs: the next is no longer than gives about `LOGS` of them. */
  answered(blocks: number, logs: number): void {
    const fitting = logs === 0 ? MOST : Math.max(1, Math.floor((blocks * LOGS) / logs))
    const grown = this.#grown()
    this.#size = Math.min(grown, fitting, MOST)
    if (this.#size < grown) this.#isSettled = true
  }

  #grown(): number {
    if (!this.#wasRefused) return this.#size * 2
    this.#answered++
    if (this.#answered < CALM) return this.#size
    this.#answered = 0
    return this.#size + Math.max(1, this.#size >> 2)
  }
}
