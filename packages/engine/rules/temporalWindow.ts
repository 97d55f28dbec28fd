/** How far back the median of a pool's own price reaches, and the values it uses. */
import type { Fraction } from '../exact/fraction.ts'
import { type Ms, ms } from '../units.ts'

export const WINDOW_MS = ms(300_000)

/** A block-final marginal ratio in canonical orientation, held from `fromMs` up to the next. */
export type Change = { readonly fromMs: Ms; readonly ratio: Fraction }
