/**
 * Greatest common divisor by Lehmer's method (Knuth, TAOCP vol. 2, §4.5.2, algorithm L).
 *
 * The leading 52 bits of both operands go through Euclid as machine numbers, which gives the product of about fifteen
 * division steps as one 2x2 matrix; the long operands are then multiplied by it once. The operands are stored in
 * scratch arrays of 26-bit limbs, so a round allocates nothing.
 *
 * The matrix has integer entries and determinant 1 or -1, and such a matrix preserves the gcd whatever its quotients
 * were. The leading bits decide how fast the operands shrink, never the answer.
 */
import { assert } from '../assert.ts'
import { count, type Count } from '../units.ts'
import { bitLength } from './bits.ts'

/** Two products of a limb and a matrix entry, both below 2^26, and a carry are exact in a double. */
const LIMB_BITS = 26
const LIMB = 2 ** LIMB_BITS
const PAIR_BITS = 2 * LIMB_BITS

/** For x and y below this, floor(x / y) in doubles is the true quotient: only 2^53 - 1 may round up. */
const MACHINE = 2n ** 53n - 1n

/** Limbs of the scratch space: 8192 bits, the cross product of two 4096-bit sides; grown when exceeded. */
let scratch = [new Float64Array(320), new Float64Array(320)] as const

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
  return gcd(a >> BigInt(twosOfA), b >> BigInt(twosOfB)) << BigInt(common)
}

/** The number of zero bits at the end of a number, which must not be 0. */
function twosOf(n: bigint): Count {
  let twos = 0
  while (endsInZeros(n)) {
    n >>= 64n
    twos += 64
  }
  const low = Number(BigInt.asUintN(32, n))
  const word = low === 0 ? Number(BigInt.asUintN(64, n) >> 32n) : low
  return count(twos + (low === 0 ? 32 : 0) + 31 - Math.clz32(word & -word))
}

/**
 * a > b. Every round that takes a step makes the operands smaller. A round whose first quotient does not fit the
 * matrix falls back to an exact division, which makes them smaller too.
 */
function lehmerGcd(a: bigint, b: bigint): bigint {
  let size = 2 * Math.ceil(bitLength(a) / PAIR_BITS)
  if (size > scratch[0].length) scratch = [new Float64Array(2 * size), new Float64Array(2 * size)]
  let [large, small] = scratch
  split(a, large, count(size))
  split(b, small, count(size))

  for (;;) {
    while (size > 0 && large[size - 1] === 0 && small[size - 1] === 0) size -= 1
    if (size <= 2) break
    const top = size - 1
    if (large[top]! < small[top]!) [large, small] = [small, large]

    // x has its highest bit at 2^51; y is cut at the same position. The part cut off is below 1.
    const up = 2 ** (Math.clz32(large[top]!) - (32 - LIMB_BITS))
    const down = up / LIMB
    let x = (large[top]! * LIMB + large[top - 1]!) * up + Math.floor(large[top - 2]! * down)
    let y = (small[top]! * LIMB + small[top - 1]!) * up + Math.floor(small[top - 2]! * down)

    // Euclid on x and y. Signs alternate, so the entries are kept positive: x = ±(xx·X - xy·Y).
    let xx = 1
    let xy = 0
    let yx = 0
    let yy = 1
    let isOdd = false
    while (y > 0) {
      const quotient = Math.floor(x / y)
      const nextX = xx + quotient * yx
      const nextY = xy + quotient * yy
      if (nextX >= LIMB || nextY >= LIMB) break
      const rest = x - quotient * y
      x = y
      y = rest
      xx = yx
      xy = yy
      yx = nextX
      yy = nextY
      isOdd = !isOdd
    }
    if (xy === 0) break
    if (isOdd) {
      xx = -xx
      yy = -yy
    } else {
      xy = -xy
      yx = -yx
    }

    let carryX = 0
    let carryY = 0
    for (let i = 0; i < size; i += 1) {
      const p = large[i]!
      const q = small[i]!
      const wideX = xx * p + xy * q + carryX
      const wideY = yx * p + yy * q + carryY
      carryX = Math.floor(wideX / LIMB)
      carryY = Math.floor(wideY / LIMB)
      large[i] = wideX - carryX * LIMB
      small[i] = wideY - carryY * LIMB
    }
    // Past the first step x and y are at most 2^51 and represent their operands within 2^26, so the operands got no
    // longer. A last quotient taken from too few bits may overshoot zero; the gcd ignores the sign.
    assert(carryX <= 0 && carryY <= 0, 'a round of gcd made an operand longer')
    if (carryX < 0) negate(large, count(size))
    if (carryY < 0) negate(small, count(size))
  }
  if (size <= 2) return machineGcd(pairIn(large), pairIn(small))
  return gcd(join(large, count(size)), join(small, count(size)))
}

/** Both below `MACHINE`. */
function machineGcd(x: Count, y: Count): bigint {
  while (y > 0) {
    const rest = x - Math.floor(x / y) * y
    x = y
    y = count(rest)
  }
  return BigInt(x)
}

/** The value of two limbs. */
const pairIn = (limbs: Float64Array): Count => count(limbs[1]! * LIMB + limbs[0]!)

/** Writes `size` limbs, an even count, lowest first. */
function split(n: bigint, limbs: Float64Array, size: Count): void {
  for (let i = 0; i < size; i += 2) {
    const pair = Number(BigInt.asUintN(PAIR_BITS, n))
    const high = Math.floor(pair / LIMB)
    limbs[i] = pair - high * LIMB
    limbs[i + 1] = high
    n >>= BigInt(PAIR_BITS)
  }
}

function join(limbs: Float64Array, size: Count): bigint {
  let n = 0n
  for (let i = size - 1; i >= 0; i -= 1) n = (n << BigInt(LIMB_BITS)) | BigInt(limbs[i]!)
  return n
}

/** The limbs hold n + 2^(26·size) for a negative n; leaves -n. */
function negate(limbs: Float64Array, size: Count): void {
  let borrow = 0
  for (let i = 0; i < size; i += 1) {
    const wide = -limbs[i]! - borrow
    borrow = wide < 0 ? 1 : 0
    limbs[i] = wide + borrow * LIMB
  }
}
