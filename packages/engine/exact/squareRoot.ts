/**
 * The integer square root: the greatest r with r² <= n.
 *
 * Newton's iteration r → (r + n/r) / 2 in integers never goes below the root after its first step, and falls until it
 * reaches the root, so the answer does not depend on the quality of the first guess.
 */
import { assert } from '../assert.ts'

/** Above this a double overflows, and the guess is the root of the upper half instead. */
const DOUBLE = 1n << 1023n

/** Rounds down. */
export function squareRoot(n: bigint): bigint {
  assert(n >= 0n, () => `square root of the negative ${n}`)
  if (n < 2n) return n
  let root = firstGuess(n)
  root = (root + n / root) >> 1n
  for (;;) {
    const next = (root + n / root) >> 1n
    if (next >= root) return root
    root = next
  }
}

function firstGuess(n: bigint): bigint {
  if (n < DOUBLE) return BigInt(Math.floor(Number(n) ** 0.5))
  // A hexadecimal digit is four bits.
  const quarter = BigInt(n.toString(16).length)
  return squareRoot(n >> (2n * quarter)) << quarter
}
