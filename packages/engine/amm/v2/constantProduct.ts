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

/** Reserves are uint112: a swap that would pass it reverts. */
export const MAX_RESERVE = (1n << 112n) - 1n

/** Both reserves are positive. */
export function amountOut(fee: Fee, reserveIn: bigint, reserveOut: bigint, amountIn: bigint): bigint {
  const trading = amountIn * fee.numerator
  return (trading * reserveOut) / (reserveIn * fee.denominator + trading)
}

/**
 * The smallest input that gives at least `out`: a*n*(O - out) >= out*I*d solved for a, rounded up. Null when
 * the pool does not hold that much: the last unit never comes out.
 */
export function smallestInput(fee: Fee, reserveIn: bigint, reserveOut: bigint, out: bigint): bigint | null {
  if (out >= reserveOut) return null
  return divideUp(out * reserveIn * fee.denominator, fee.numerator * (reserveOut - out))
}

/**
 * The greatest input after which I/O, the price of what comes out, is at most `boundary` times what it was.
 *
 * Without the floor in out(a), (I + a)/(O - out(a)) = boundary * I/O is a quadratic in a whose positive root
 * is I times a constant of the fee and the boundary alone. The floor leaves more in the pool than that, so
 * the root rounded down is inside, and the answer is above it by at most two steps of the output: past a
 * whole unit of output more, the price is outside whatever the floor does. Each step is decided exactly.
 */
export function greatestInside(fee: Fee, reserveIn: bigint, reserveOut: bigint, boundary: Fraction): bigint {
  const ceiling = boundary.num * reserveIn
  const divisor = boundary.den * reserveOut
  // The greatest input that is inside if exactly `out` comes out for it.
  const reach = (out: bigint): bigint => (ceiling * (reserveOut - out)) / divisor - reserveIn

  let out = amountOut(fee, reserveIn, reserveOut, rootInput(fee, reserveIn, boundary))
  for (let step = 0; ; step++) {
    assert(step < OUTPUT_STEPS, () => `no greatest input for reserves ${reserveIn} and ${reserveOut}`)
    const within = reach(out)
    const next = smallestInput(fee, reserveIn, reserveOut, out + 1n)
    // `out` comes out for `within` too, and one unit more passes its reach or only lowers it.
    if (next === null || within < next) return within
    const nextOut = amountOut(fee, reserveIn, reserveOut, next)
    if (next > reach(nextOut)) return next - 1n
    out = nextOut
  }
}

/** Two are enough by the argument above; the start is rounded down twice, which may cost two more. */
const OUTPUT_STEPS = 5

/** Bits of the constant: more than a reserve has, so the product is off by less than a unit. */
const ROOT_BITS = 128n

type InputRoot = { readonly fee: Fee; readonly boundary: Fraction; readonly scaled: bigint }

/** A deployment has one fee and the service a handful of boundaries; past this the oldest is forgotten. */
const MAX_ROOTS = 64
const roots: InputRoot[] = []
let nextRoot = 0

/** Rounds down, which is inside. */
function rootInput(fee: Fee, reserveIn: bigint, boundary: Fraction): bigint {
  const known = roots.find(root => isSameRoot(root, fee, boundary))
  if (known !== undefined) return (reserveIn * known.scaled) >> ROOT_BITS
  const root = { fee, boundary, scaled: scaledRoot(fee, boundary) }
  roots[nextRoot] = root
  nextRoot = (nextRoot + 1) % MAX_ROOTS
  return (reserveIn * root.scaled) >> ROOT_BITS
}

function isSameRoot(root: InputRoot, fee: Fee, boundary: Fraction): boolean {
  return (
    root.fee.numerator === fee.numerator &&
    root.fee.denominator === fee.denominator &&
    root.boundary.num === boundary.num &&
    root.boundary.den === boundary.den
  )
}

/** floor(2^128 * c), c the positive root of n*c^2 + (d + n)*c - d*(boundary - 1) = 0. */
function scaledRoot({ numerator: n, denominator: d }: Fee, { num, den }: Fraction): bigint {
  assert(n > 0n && n <= d, () => `fee ${n}/${d} leaves nothing to trade`)
  assert(num >= den && den > 0n, () => `boundary ${num}/${den} is below the price`)
  const sum = d + n
  const radicand = sum * sum * den + 4n * n * d * (num - den)
  const root = squareRoot((radicand * den) << (2n * ROOT_BITS))
  return (root - ((sum * den) << ROOT_BITS)) / (2n * n * den)
}
