/** How far back a price is compared with its token's own past, in what steps, and which deviation counts as far. */
import { bpsMore } from '../exact/apart.ts'
import { type Ms, ms, score } from '../units.ts'

export const MINUTE_MS = ms(60_000)
export const PAST_MS = ms(3_600_000)

export const minuteOf = (timeMs: Ms): Ms => ms(timeMs - (timeMs % MINUTE_MS))

/** A smaller deviation never causes a cap. */
export const NEAREST = bpsMore(500n)

/** `[from this deviation on, cap]`, largest deviation first. */
export const JUMP_CAPS = [
  [bpsMore(5_000n), score(3)],
  [bpsMore(2_000n), score(4)],
  [NEAREST, score(6)],
] as const

/** A past that covers less time than this proves nothing. */
export const LEAST_COVERED_MS = ms(300_000)
