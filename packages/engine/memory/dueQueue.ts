/**
 * When time alone may change something: a binary heap of (due, token), earliest first, ties by token.
 *
 * Derived: each token's own `dueMs` is authoritative. An entry that no longer matches it is stale and dropped when it
 * surfaces, so moving a due never searches the heap.
 */
import type { Address } from '../chain/block.ts'
import type { Ms } from '../units.ts'

type Entry = { readonly dueMs: Ms; readonly token: Address }

const before = (a: Entry, b: Entry): boolean =>
  a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.token < b.token)

export class DueQueue {
  readonly #heap: Entry[] = []
  readonly #current = new Map<Address, Ms>()

  set(token: Address, dueMs: Ms | null): void {
    if (this.#current.get(token) === dueMs) return
    if (dueMs === null) {
      this.#current.delete(token)
      return
    }
    this.#current.set(token, dueMs)
    this.#push({ dueMs, token })
    // Stale entries may outnumber live ones for a token that is re-published constantly.
    if (this.#heap.length > 64 && this.#heap.length > 4 * this.#current.size) this.#rebuild()
  }

  /** The earliest due, or null. */
  next(): Ms | null {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (this.#current.get(top.token) === top.dueMs) return top.dueMs
      this.#pop()
    }
    return null
  }

  /** Removes and returns every token due at `atMs` or before. */
  take(atMs: Ms): Address[] {
    const tokens: Address[] = []
    for (let due = this.next(); due !== null && due <= atMs; due = this.next()) {
      const { token } = this.#pop()
      this.#current.delete(token)
      tokens.push(token)
    }
    return tokens
  }

  #rebuild(): void {
    this.#heap.length = 0
    for (const [token, dueMs] of this.#current) this.#push({ dueMs, token })
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let at = heap.push(entry) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = heap[parent] as Entry
      if (!before(entry, above)) break
      heap[at] = above
      at = parent
    }
    heap[at] = entry
  }

  #pop(): Entry {
    const heap = this.#heap
    const top = heap[0] as Entry
    const last = heap.pop() as Entry
    if (heap.length > 0) {
      let at = 0
      for (;;) {
        let child = 2 * at + 1
        if (child >= heap.length) break
        if (child + 1 < heap.length && before(heap[child + 1] as Entry, heap[child] as Entry)) child++
        if (!before(heap[child] as Entry, last)) break
        heap[at] = heap[child] as Entry
        at = child
      }
      heap[at] = last
    }
    return top
  }
}
