/**
 * The distance of two values, as the greater over the lesser, against a bound. Nothing is rounded: doubles decide
 * when they are certain, and the integers otherwise.
 */
import { BPS, asApprox, type Approx, type Sign } from '../units.ts'
import type { Fraction } from './fraction.ts'

/** A factor of at least 1, and its approximation. */
export type Bound = Fraction & { readonly approx: Approx }

/** Wider than the combined error of two approximations and their quotient. */
const SURELY_MORE = 1 + 2 ** -46
const SURELY_LESS = 1 - 2 ** -46

export const times = (factor: bigint): Bound => ({ num: factor, den: 1n, approx: asApprox(Number(factor)) })

/** A factor this many basis points above 1. */
export const bpsMore = (bps: bigint): Bound => partsMore(bps, BPS)

/** A factor this many parts of `whole` above 1. */
export const partsMore = (parts: bigint, whole: bigint): Bound => ({
  num: whole + parts,
  den: whole,
  approx: asApprox(1 + Number(parts) / Number(whole)),
})

/** The sign of max(p/q, q/p) − bound; 0 is exactly on it. */
export function apart(p: Fraction, q: Fraction, bound: Fraction): Sign {
  const left = p.num * q.den
  const right = p.den * q.num
  const difference =
    left > right ? left * bound.den - right * bound.num : right * bound.den - left * bound.num
  return difference > 0n ? 1 : difference < 0n ? -1 : 0
}

/** The same when doubles are certain of it; 0 when the integers must decide. */
export function apartApprox(p: Approx, q: Approx, { approx }: Bound): Sign {
  const about = p > q ? p / q : q / p
  if (about < approx * SURELY_LESS && approx < Infinity) return -1
  return about > approx * SURELY_MORE && about < Infinity ? 1 : 0
}
