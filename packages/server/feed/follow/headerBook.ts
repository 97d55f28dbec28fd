/**
 * The heads that endpoints reported recently, by hash. They give the parent of a block, and those whose fields give
 * their hash need no fetch.
 */
import type { Hex } from '../../ops/hex.ts'
import { type Head, type Header, provenHeader } from '../proof/header.ts'

/** About a minute of the fastest chain; a header takes about a kilobyte. */
const MOST = 256

export class HeaderBook {
  readonly #heads = new Map<Hex, Head | Header>()

  /** A bare head never replaces a proven header. */
  add(head: Head | Header): void {
    const known = this.#heads.get(head.hash)
    if (known !== undefined && provenHeader(known) !== null) return
    this.#heads.set(head.hash, head)
    if (this.#heads.size <= MOST) return
    const [oldest] = this.#heads.keys()
    if (oldest !== undefined) this.#heads.delete(oldest)
  }

  proven(hash: Hex): Header | null {
    const head = this.#heads.get(hash)
    return head === undefined ? null : provenHeader(head)
  }

  /** Whether `ancestor` is the same block as `hash` or below it, as far as every block between them was reported. */
  isBelow(ancestor: Hex, hash: Hex): boolean {
    let at: Hex | undefined = hash
    for (let steps = 0; at !== undefined && steps <= MOST; steps++) {
      if (at === ancestor) return true
      at = this.#heads.get(at)?.parentHash
    }
    return false
  }

  /** Proven headers from this one down to a number, lowest first, until one is missing. */
  downFrom(hash: Hex, number: number): readonly Header[] {
    const headers: Header[] = []
    for (let header = this.proven(hash); header !== null; header = this.proven(header.parentHash)) {
      if (header.number < number) break
      headers.unshift(header)
    }
    return headers
  }
}
