/**
 * Encodes calls of Multicall3, `aggregate3((address,bool,bytes)[])`, and decodes its results, `(bool,bytes)[]`, by
 * hand: most reads of a chain go through it, and every chain's thread would load a library for it alone.
 */
import type { Hex } from '../ops/hex.ts'
import { callData, encodeAddress, encodeInt } from './abiWords.ts'

export type Aggregated = { readonly success: boolean; readonly returnData: Hex }

const AGGREGATE3: Hex = '0x82ad56cb'
/** In hex digits. */
const WORD = 64

/** Each call may fail without failing the others. */
export function encodeAggregate(calls: readonly { readonly to: Hex; readonly data: Hex }[]): Hex {
  const tuples = calls.map(({ to, data }) => {
    const digits = data.slice(2)
    const padded = digits.padEnd(Math.ceil(digits.length / WORD) * WORD, '0')
    return [encodeAddress(to), encodeCount(1), encodeCount(96), encodeCount(digits.length / 2), padded].join(
      '',
    )
  })
  let at = calls.length * WORD
  const places = tuples.map(tuple => {
    const place = encodeCount(at / 2)
    at += tuple.length
    return place
  })
  return callData(AGGREGATE3, encodeCount(32), encodeCount(calls.length), ...places, ...tuples)
}

/** Null when it is not an answer to this number of calls. */
export function decodeAggregate(answer: Hex, calls: number): readonly Aggregated[] | null {
  const digits = answer.slice(2)
  try {
    const list = countAt(digits, 0) * 2
    if (countAt(digits, list) !== calls) return null
    const first = list + WORD
    return Array.from({ length: calls }, (_, index) =>
      resultAt(digits, first + countAt(digits, first + index * WORD) * 2),
    )
  } catch (failure) {
    if (failure instanceof RangeError) return null
    throw failure
  }
}

function resultAt(digits: string, at: number): Aggregated {
  const success = countAt(digits, at)
  if (success > 1) throw new RangeError('a truth value is neither 0 nor 1')
  const bytes = at + countAt(digits, at + WORD) * 2
  const end = bytes + WORD + countAt(digits, bytes) * 2
  if (end > digits.length) throw new RangeError('there are fewer bytes than the declared length')
  return { success: success === 1, returnData: `0x${digits.slice(bytes + WORD, end)}` }
}

const encodeCount = (value: number): string => encodeInt(BigInt(value))

/** A word that counts bytes or items, which always fits in 32 bits. */
function countAt(digits: string, at: number): number {
  const word = digits.slice(at, at + WORD)
  if (!/^0{56}[0-9a-f]{8}$/i.test(word)) throw new RangeError('a count is missing or too large')
  return Number.parseInt(word.slice(56), 16)
}
