/**
 * What a rule finds at one moment, and how long time alone leaves it so. When to look again is the least of all `untilMs`
 * that an outcome was made from.
 */
import { type Ms, ms } from '../units.ts'

export type Timed<Value> = {
  readonly value: Value
  /** The first millisecond at which the rule may find something else though nothing has happened. */
  readonly untilMs: Ms
}

/** Time has no part in it. */
export const FOREVER = ms(Number.POSITIVE_INFINITY)

export const earlier = (a: Ms, b: Ms): Ms => (a < b ? a : b)
