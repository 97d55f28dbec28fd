/**
 * Cache of fixed-length hex strings found in answers: the hash of a block appears in each of its logs, and a few pools
 * and topics account for most of them. A cached string needs no check and no allocation, and JavaScript has already
 * computed its hash for map lookups.
 *
 * A new value replaces the one in its slot, so the table never grows.
 */
import type { Hex } from '../../ops/hex.ts'

export class SeenHex {
  /** Bytes of the string in an answer, with its quotes; a multiple of four. */
  readonly size: number
  readonly #texts: (Hex | null)[]
  readonly #kept: DataView
  readonly #mask: number

  /** `slots` must be a power of two. */
  constructor(bytes: number, slots: number) {
    this.size = 2 * bytes + 4
    this.#texts = Array.from({ length: slots }, () => null)
    this.#kept = new DataView(new ArrayBuffer(slots * this.size))
    this.#mask = slots - 1
  }

  /** The cached string that equals the bytes at the offset, quotes included; null when it is not cached. */
  find(view: DataView, at: number): Hex | null {
    if (at + this.size > view.byteLength) return null
    const slot = this.#slotOf(view, at)
    const text = this.#texts[slot] ?? null
    if (text === null) return null
    for (let n = 0; n < this.size; n += 4)
      if (view.getInt32(at + n, true) !== this.#kept.getInt32(slot * this.size + n, true)) return null
    return text
  }

  /** Caches a string that has been checked. */
  keep(view: DataView, at: number, text: Hex): Hex {
    const slot = this.#slotOf(view, at)
    this.#texts[slot] = text
    for (let n = 0; n < this.size; n += 4)
      this.#kept.setInt32(slot * this.size + n, view.getInt32(at + n, true), true)
    return text
  }

  #slotOf(view: DataView, at: number): number {
    const digits = view.getInt32(at + 4)
    return (digits ^ (digits >>> 6) ^ (digits >>> 13)) & this.#mask
  }
}
