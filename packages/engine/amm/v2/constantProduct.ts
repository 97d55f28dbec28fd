/**
 * The constant-product curve in the contract's integers: x*y does not fall, the fee stays in the pool.
 *
 * With reserves I (in) and O (out) and the share n/d of the input that trades:
 * out(a) = floor(a*n*O / (I*d + a*n)), so the last unit always stays in the pool's favour.
 */
import type { V2Terms } from './kind.ts'
import { assert } from '../../assert.ts'
import type { Fraction } from '../../exact/fraction.ts'
import { squareRoot } from '../../exact/squareRoot.ts'
import { divideUp } from '../sqrtPriceMath.ts'

type Fee = V2Terms['fee']

/** Reserves are uint112: a swap that would exceed it reverts. */
export const MAX_RESERVE = (1n << 112n) - 1n

/** Both reserves are positive. */
export function amountOut(fee: Fee, reserveIn: bigint, reserveOut: bigint, amountIn: bigint): bigint {
  const trading = amountIn * fee.numerator
  return (trading * reserveOut) / (reserveIn * fee.denominator + trading)
}

/**
 * The smallest input that gives at least `out`: a*n*(O - out) >= out*I*d solved for a, rounded up. Null when the pool
 * does not hold that much: the last unit can never be withdrawn.
 */
export function smallestInput(fee: Fee, reserveIn: bigint, reserveOut: bigint, out: bigint): bigint | null {
  if (out >= reserveOut) return null
  return divideUp(out * reserveIn * fee.denominator, fee.numerator * (reserveOut - out))
}

/**
 * The greatest input after which I/O, the price of the output token, is at most `boundary` times its previous value.
 *
 * Without the floor in out(a), (I + a)/(O - out(a)) = boundary * I/O is quadratic in a, and its positive root is I
 * times a constant that depends only on the fee and the boundary. The floor leaves more in the pool than that, so the
 * root rounded down is inside, and the answer exceeds it by at most two steps of the output: one more whole unit of
 * output takes the price outside, whatever the floor does. Each step is decided exactly.
 */
export function greatestInside(fee: Fee, reserveIn: bigint, reserveOut: bigint, boundary: Fraction): bigint {
  const ceiling = boundary.num * reserveIn
  const divisor = boundary.den * reserveOut
  // The greatest input that is inside if its output is exactly `out`.
  const reach = (out: bigint): bigint => (ceiling * (reserveOut - out)) / divisor - reserveIn

  let out = amountOut(fee, reserveIn, reserveOut, rootInput(fee, reserveIn, boundary))
  for (let step = 0; ; step++) {
    assert(step < OUTPUT_STEPS, () => `no greatest input for reserves ${reserveIn} and ${reserveOut}`)
    const within = reach(out)
    const next = smallestInput(fee, reserveIn, reserveOut, out + 1n)
    // `within` also gives `out`, and one more unit of output passes its reach or only lowers it.
    if (next === null || within < next) return within
    const nextOut = amountOut(fee, reserveIn, reserveOut, next)
    if (next > reach(nextOut)) return next - 1n
    out = nextOut
  }
}

/** Two are enough by the argument above; the start is rounded down twice, which may cost two more. */
const OUTPUT_STEPS = 5

/** Bits of the constant: more than a reserve has, so the product is off by less than one unit. */
const ROOT_BITS = 128n

/** Rounds down, so the result is inside. */
const rootInput = (fee: Fee, reserveIn: bigint, boundary: Fraction): bigint =>
  (reserveIn * scaledRoot(fee, boundary)) >> ROOT_BITS

/** floor(2^128 * c), c the positive root of n*c^2 + (d + n)*c - d*(boundary - 1) = 0. */
function scaledRoot({ numerator: n, denominator: d }: Fee, { num, den }: Fraction): bigint {
  assert(n > 0n && n <= d, () => `fee ${n}/${d} leaves nothing to trade`)
  assert(num >= den && den > 0n, () => `boundary ${num}/${den} is below the price`)
  const sum = d + n
  const radicand = sum * sum * den + 4n * n * d * (num - den)
  const root = squareRoot((radicand * den) << (2n * ROOT_BITS))
  return (root - ((sum * den) << ROOT_BITS)) / (2n * n * den)
}
