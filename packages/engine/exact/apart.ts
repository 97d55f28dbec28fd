/**
 * How far apart two values are, as the greater over the lesser, against a bound. Nothing is rounded: doubles answer where
 * they are sure, and the integers where they are not.
 */
import { asNear, type Near, type Sign } from '../units.ts'
import type { Fraction } from './fraction.ts'

/** A factor of at least 1, and about where it is. */
export type Bound = Fraction & { readonly near: Near }

/** Wider than all that two approximations and their quotient can be off by. */
const SURELY_MORE = 1 + 2 ** -46
const SURELY_LESS = 1 - 2 ** -46

const BPS = 10_000n

export const times = (factor: bigint): Bound => ({ num: factor, den: 1n, near: asNear(Number(factor)) })

/** So many basis points more than the same. */
export const bpsMore = (bps: bigint): Bound => partsMore(bps, BPS)

/** So many parts of `whole` more than the same. */
export const partsMore = (parts: bigint, whole: bigint): Bound => ({
  num: whole + parts,
  den: whole,
  near: asNear(1 + Number(parts) / Number(whole)),
})

/** The sign of max(p/q, q/p) − bound: 0 lies exactly on it. */
export function apart(p: Fraction, q: Fraction, bound: Fraction): Sign {
  const left = p.num * q.den
  const right = p.den * q.num
  const difference =
    left > right ? left * bound.den - right * bound.num : right * bound.den - left * bound.num
  return difference > 0n ? 1 : difference < 0n ? -1 : 0
}

/** The same where doubles are sure of it; 0 where the integers must decide. */
export function apartNear(p: Near, q: Near, { near }: Bound): Sign {
  const about = p > q ? p / q : q / p
  if (about < near * SURELY_LESS && near < Infinity) return -1
  return about > near * SURELY_MORE && about < Infinity ? 1 : 0
}
