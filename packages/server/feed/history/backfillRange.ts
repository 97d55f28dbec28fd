/**
 * How many blocks to request at once. The size doubles until a range is refused. Nodes refuse ranges in many words and
 * codes, so any refusal halves it. After that it grows slowly, because a limit met once will be met again.
 */

const START = 16
const MOST = 16_384
/** Logs in one answer, about a megabyte: where logs are dense, ranges shrink before the node refuses them. */
const LOGS = 2000
/** After a refusal, this many answers in a row before a longer range is tried. */
const CALM = 8

export class BackfillRange {
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

  /**
   * Whether a limit has been met (of the node, of the answer size, or our own); until then answers may still grow a
   * lot.
   */
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

  /** A range of this many blocks had this many logs: the next range is sized for at most about `LOGS` of them. */
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
