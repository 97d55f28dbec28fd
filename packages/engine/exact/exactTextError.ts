/** Text that was to be an exact value and is not one: the failure of `ratio.parse` and `parseInteger`. */

/** What the text was read as. `value` is the whole fraction: both sides are fine, but not reduced. */
export type ExactField = 'integer' | 'numerator' | 'denominator' | 'value'

/** Enough to recognise a value in a log; the text may be of any length. */
const SHOWN_CHARACTERS = 80

export class ExactTextError extends Error {
  override readonly name = 'ExactTextError'
  readonly code = 'INVALID_EXACT'
  readonly retryable = false
  readonly field: ExactField
  /** Cut to its first 80 characters. */
  readonly received: string
  readonly expected: string

  constructor(field: ExactField, received: string, expected: string) {
    const shown = received.length > SHOWN_CHARACTERS ? `${received.slice(0, SHOWN_CHARACTERS)}…` : received
    super(`${field}: received ${JSON.stringify(shown)}, expected ${expected}`)
    this.field = field
    this.received = shown
    this.expected = expected
  }
}
