/** A text as pieces: what several texts share, and what is known or written only when the text is read. */
import type { Fraction } from '../../exact/fraction.ts'
import type { Count } from '../../units.ts'
import { exactText } from './exactText.ts'

/** The placeholder in a text for the sequence of its record. */
export const SEQUENCE = Symbol('stream_sequence')

/**
 * A price that gets its text only when the quote is read: a greatest common divisor and three long divisions for each
 * of the routes are a twentieth of what a swap costs, and few quotes are read.
 */
export class Unreduced {
  readonly value: Fraction
  #text: string | null = null

  constructor(value: Fraction) {
    this.value = value
  }

  get text(): string {
    this.#text ??= JSON.stringify(exactText(this.value))
    return this.#text
  }
}

export const unreduced = (value: Fraction | null): Part => (value === null ? 'null' : new Unreduced(value))

/** A piece of text shared by several quotes: stored together, they store it once. */
export class Shared {
  readonly parts: readonly Part[]

  constructor(parts: readonly Part[]) {
    this.parts = parts
  }
}

export type Part = string | typeof SEQUENCE | Unreduced | Shared

/** The text at the place of a sequence: the first field of `as_of`. */
export const sequenceText = (sequence: Count): string => `"stream_sequence":${sequence},`

export function textOf({ parts }: Shared, sequence: string): string {
  let text = ''
  for (const part of parts)
    if (typeof part === 'string') text += part
    else if (part === SEQUENCE) text += sequence
    else text += part instanceof Unreduced ? part.text : textOf(part, sequence)
  return text
}
