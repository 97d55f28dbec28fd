/**
 * One cached outcome with its inputs, compared by identity, and the time for which it holds. Law: a recalled outcome
 * equals what the rule would find now.
 */
import type { Timed } from '../rules/timed.ts'
import { type Ms, ms } from '../units.ts'
import { memory } from './switch.ts'

export class Cell<Value, A, B = null, C = null, D = null> {
  #a: A | undefined = undefined
  #b: B | undefined = undefined
  #c: C | undefined = undefined
  #d: D | undefined = undefined
  #fromMs = ms(0)
  #untilMs = ms(0)
  #value: Value | null = null

  /** The cached value if it is of these inputs and still holds, otherwise null. */
  recall(atMs: Ms, a: A, b: B, c: C, d: D): Value | null {
    const isHeld = this.#a === a && this.#b === b && this.#c === c && this.#d === d
    return isHeld && atMs >= this.#fromMs && atMs < this.#untilMs && memory.isOn ? this.#value : null
  }

  /** Caches and returns the value found now. */
  keep(atMs: Ms, a: A, b: B, c: C, d: D, { value, untilMs }: Timed<Value>): Value {
    this.#a = a
    this.#b = b
    this.#c = c
    this.#d = d
    this.#fromMs = atMs
    this.#untilMs = untilMs
    this.#value = value
    return value
  }
}
