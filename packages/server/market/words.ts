/**
 * ABI words by hand: 32 bytes of hex each. On the hot path a log is sliced, not parsed; reading a word that is
 * not there is an error of whoever answered, never a zero.
 */
import type { Address, Hex } from '../ops/config.ts'

export const wordCount = (data: Hex): number => (data.length - 2) / 64

export const wordAt = (data: Hex, at: number): string => {
  const word = data.slice(2 + 64 * at, 66 + 64 * at)
  if (word.length !== 64) throw new RangeError(`word ${at} of ${wordCount(data)} is missing`)
  return word
}

/** Leading zeros are left out first: a price or an amount is far shorter than its word. */
export function uintAt(data: Hex, at: number): bigint {
  const [start, end] = [2 + 64 * at, 66 + 64 * at]
  if (data.length < end) throw new RangeError(`word ${at} of ${wordCount(data)} is missing`)
  let first = start
  while (first < end - 1 && data.charCodeAt(first) === ZERO) first++
  return BigInt(`0x${data.slice(first, end)}`)
}
const ZERO = 48
export const intAt = (data: Hex, at: number): bigint => BigInt.asIntN(256, uintAt(data, at))
export const addressAt = (data: Hex, at: number): Address => `0x${wordAt(data, at).slice(24)}`

/** A topic or a small word as a number; only for widths that fit. */
export const smallInt = (word: Hex): number => Number(BigInt.asIntN(256, BigInt(word)))
export const topicAddress = (topic: Hex): Address => `0x${topic.slice(26)}`

export const encodeAddress = (address: Address): string => address.slice(2).toLowerCase().padStart(64, '0')
export const encodeInt = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0')

/** A call: four bytes of selector and its words. */
export const callData = (selector: Hex, ...words: readonly string[]): Hex => `${selector}${words.join('')}`
