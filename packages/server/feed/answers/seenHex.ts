/**
 * Hex of one length that was met before in the bytes of answers: the hash of a block stands in each of its logs,
 * and few pools and topics make most of them. What is found here needs neither a check nor a new string, and its
 * hash is known to every map that is asked for it. A new value replaces the one in its slot, so the table never
 * grows.
 */
import type { Hex } from '../../ops/config.ts'

export class SeenHex {
  /** In an answer, with its quotes; a multiple of four. */
  readonly size: number
  readonly #texts: (Hex | null)[]
  readonly #kept: DataView
  readonly #mask: number

  /** `slots` is a power of two. */
  constructor(bytes: number, slots: number) {
    this.size = 2 * bytes + 4
    this.#texts = Array.from({ length: slots }, () => null)
    this.#kept = new DataView(new ArrayBuffer(slots * this.size))
    this.#mask = slots - 1
  }

  /** What stands at the offset, from quote to quote; null when it is not known. */
  find(view: DataView, at: number): Hex | null {
    if (at + this.size > view.byteLength) return null
    const slot = this.#slotOf(view, at)
    const text = this.#texts[slot] ?? null
    if (text === null) return null
    for (let n = 0; n < this.size; n += 4)
      if (view.getInt32(at + n, true) !== this.#kept.getInt32(slot * this.size + n, true)) return null
    return text
  }

  /** For one that was checked. */
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
