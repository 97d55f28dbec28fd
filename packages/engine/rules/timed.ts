/**
 * The finding of a rule at one moment, and how long time alone leaves it unchanged. The next evaluation is due at the
 * least of all `untilMs` that an outcome was derived from.
 */
import { type Ms, ms } from '../units.ts'

export type Timed<Value> = {
  readonly value: Value
  /** The first millisecond at which the rule may find something else although nothing has happened. */
  readonly untilMs: Ms
}

/** The finding does not depend on time. */
export const FOREVER = ms(Number.POSITIVE_INFINITY)

export const earlier = (a: Ms, b: Ms): Ms => (a < b ? a : b)
