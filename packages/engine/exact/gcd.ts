/**
 * Greatest common divisor by Lehmer's method (Knuth, TAOCP vol. 2, §4.5.2, algorithm L).
 *
 * The leading 52 bits of both operands go through Euclid as machine numbers, which gives the product of about fifteen
 * division steps as one 2x2 matrix; the long operands are then multiplied by it once.
 *
 * The matrix has integer entries and determinant 1 or -1, and such a matrix preserves the gcd whatever its quotients
 * were. The leading bits decide how fast the operands shrink, never the answer.
 */
import { assert } from '../assert.ts'
import { count, type Count } from '../units.ts'
import { bitLength } from './bits.ts'

const LEADING_BITS = 52

/** An entry of the matrix beyond half of the leading bits comes from bits that the cut made uncertain. */
const MAX_ENTRY = 2 ** (LEADING_BITS / 2)

/** For x and y below this, floor(x / y) in doubles is the true quotient: only 2^53 - 1 may round up. */
const MACHINE = 2n ** 53n - 1n

/** Both operands are zero or positive. */
export function gcd(a: bigint, b: bigint): bigint {
  assert(a >= 0n && b >= 0n, () => `gcd of ${a} and ${b}: an operand is negative`)
  if (a === 0n || b === 0n) return a + b
  if (a < MACHINE && b < MACHINE) return machineGcd(count(Number(a)), count(Number(b)))
  if (endsInZeros(a) || endsInZeros(b)) return gcdWithoutTwos(a, b)
  // Start with one exact division: it orders the operands and makes operands of very different lengths alike.
  const rest = a % b
  return rest < MACHINE ? gcd(b, rest) : lehmerGcd(b, rest)
}

/** A final word of zero bits: removing the zeros shortens the operand by more than finding them costs. */
const endsInZeros = (n: bigint): boolean => BigInt.asUintN(64, n) === 0n

/** The price of a v3 pool has a power of two on one side: without it hardly anything is left to divide. */
function gcdWithoutTwos(a: bigint, b: bigint): bigint {
  const [twosOfA, twosOfB] = [twosOf(a), twosOf(b)]
  const common = twosOfA < twosOfB ? twosOfA : twosOfB
  return gcd(a >> twosOfA, b >> twosOfB) << common
}

/** The number of zero bits at the end of a number, which must not be 0. */
const twosOf = (n: bigint): bigint => BigInt(bitLength(n & -n) - 1)

/**
 * a > b. Every round that takes a step makes the operands smaller. A round whose first quotient does not fit the
 * matrix falls back to an exact division, which makes them smaller too.
 */
function lehmerGcd(a: bigint, b: bigint): bigint {
  while (b >= MACHINE) {
    // x has its highest bit at 2^51; y is cut at the same position. The part cut off is below 1.
    const cut = BigInt(bitLength(a) - LEADING_BITS)
    let x = Number(a >> cut)
    let y = Number(b >> cut)

    // Euclid on x and y. Signs alternate, so the entries are kept positive: x = ±(xx·X - xy·Y).
    let xx = 1
    let xy = 0
    let yx = 0
    let yy = 1
    while (y > 0) {
      const quotient = Math.floor(x / y)
      const nextX = xx + quotient * yx
      const nextY = xy + quotient * yy
      if (nextX >= MAX_ENTRY || nextY >= MAX_ENTRY) break
      const rest = x - quotient * y
      x = y
      y = rest
      xx = yx
      xy = yy
      yx = nextX
      yy = nextY
    }
    if (xy === 0) [a, b] = [b, a % b]
    else {
      // A last quotient taken from too few bits may overshoot zero; the gcd ignores the sign.
      const p = magnitude(BigInt(xx) * a - BigInt(xy) * b)
      const q = magnitude(BigInt(yy) * b - BigInt(yx) * a)
      ;[a, b] = p > q ? [p, q] : [q, p]
    }
  }
  return gcd(a, b)
}

const magnitude = (n: bigint): bigint => (n < 0n ? -n : n)

/** Both below `MACHINE`. */
function machineGcd(x: Count, y: Count): bigint {
  while (y > 0) {
    const rest = x - Math.floor(x / y) * y
    x = y
    y = count(rest)
  }
  return BigInt(x)
}
