/**
 * The size of a bigint in bits, and the most bits one side of a published price may have.
 *
 * The exponent of a float gives the size; when rounding may have carried into the next power of two, the integer
 * itself decides.
 */
import { assert } from '../assert.ts'
import { count, type Count } from '../units.ts'

/** R-exact-2: exact arithmetic supports 4096 bits per side. */
export const MAX_BITS = count(4096)

/** The first integer that no longer fits. */
export const BEYOND_MAX_BITS = 1n << BigInt(MAX_BITS)

/** Below 1023, so that the remainder after a step that overflowed a double is never zero. */
const STEP_BITS = 1000

const double = new DataView(new ArrayBuffer(8))

/** 0 for 0n; otherwise the k with 2^(k-1) <= n < 2^k. */
export function bitLength(n: bigint): Count {
  assert(n >= 0n, () => `bit length of the negative ${n}`)
  let skipped = 0
  let approximate = Number(n)
  while (approximate === Infinity) {
    n >>= BigInt(STEP_BITS)
    skipped += STEP_BITS
    approximate = Number(n)
  }
  if (approximate === 0) return count(0)
  double.setFloat64(0, approximate)
  const high = double.getUint32(0)
  const bits = (high >>> 20) - 1022
  // Number() rounds to nearest: 2^k - 1 becomes 2^k, which has no mantissa bits and is one bit longer.
  const mayHaveCarried = bits > 53 && (high & 0xfffff) === 0 && n >> BigInt(bits - 1) === 0n
  return count(skipped + (mayHaveCarried ? bits - 1 : bits))
}

/** The bit length of the longer side of a fraction. */
export function bitsOf({ num, den }: { readonly num: bigint; readonly den: bigint }): Count {
  return bitLength(num > den ? num : den)
}
