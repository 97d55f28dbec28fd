/**
 * The highest of some values that change one at a time, and the second highest; the first wins ties. A tree of
 * winners: a change compares along one path, while a scan would compare all.
 */
import { type Count, count } from '../units.ts'

export class Winners {
  readonly #values: bigint[]
  /** The first leaf: the winner of node n is the better one of nodes 2n and 2n + 1. */
  readonly #leaves: Count
  readonly #nodes: (Count | null)[]

  constructor(values: readonly bigint[]) {
    this.#values = [...values]
    let leaves = 1
    while (leaves < values.length) leaves *= 2
    this.#leaves = count(leaves)
    this.#nodes = Array.from({ length: 2 * leaves }, () => null)
    for (const at of values.keys()) this.#nodes[leaves + at] = count(at)
    for (let node = leaves - 1; node > 0; node--) this.#decide(count(node))
  }

  /** Null where there are no values. */
  get highest(): Count | null {
    return this.#nodes[1] ?? null
  }

  /** The highest of the others; null where there are none. */
  get next(): Count | null {
    const best = this.highest
    if (best === null) return null
    let next: Count | null = null
    for (let node = this.#leaves + best; node > 1; node >>= 1)
      next = this.#better(next, this.#nodes[node ^ 1] ?? null)
    return next
  }

  /** `at` is one of the indices. */
  value(at: Count): bigint {
    return this.#values[at] as bigint
  }

  set(at: Count, value: bigint): void {
    this.#values[at] = value
    for (let node = (this.#leaves + at) >> 1; node > 0; node >>= 1) this.#decide(count(node))
  }

  #decide(node: Count): void {
    this.#nodes[node] = this.#better(this.#nodes[2 * node] ?? null, this.#nodes[2 * node + 1] ?? null)
  }

  #better(a: Count | null, b: Count | null): Count | null {
    if (a === null || b === null) return a ?? b
    const [x, y] = [this.#values[a] as bigint, this.#values[b] as bigint]
    return x > y || (x === y && a < b) ? a : b
  }
}
