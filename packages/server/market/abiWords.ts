/**
 * ABI words decoded by hand: 32 bytes of hex each. A missing word is the endpoint's error, never a zero. `logWords.ts`
 * reads those of logs.
 */
import type { Address, Hex } from '../ops/hex.ts'

export const wordCount = (data: Hex): number => (data.length - 2) / 64

export const wordAt = (data: Hex, at: number): string => {
  const word = data.slice(2 + 64 * at, 66 + 64 * at)
  if (word.length !== 64) throw new RangeError(`word ${at} of ${wordCount(data)} is missing`)
  return word
}

export const uintAt = (data: Hex, at: number): bigint => BigInt(`0x${wordAt(data, at)}`)

export const intAt = (data: Hex, at: number): bigint => BigInt.asIntN(256, uintAt(data, at))

/** A word as a number; only for widths that fit, such as that of a tick. */
export const smallIntAt = (data: Hex, at: number): number => Number(intAt(data, at))

export const addressAt = (data: Hex, at: number): Address => `0x${wordAt(data, at).slice(24)}`

/** A topic or a small word as a number; only for widths that fit. */
export const smallInt = (word: Hex): number => Number(BigInt.asIntN(256, BigInt(word)))
export const topicAddress = (topic: Hex): Address => `0x${topic.slice(26)}`

export const encodeAddress = (address: Address): string => address.slice(2).toLowerCase().padStart(64, '0')
export const encodeInt = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0')

/** Call data: four bytes of selector, then the words. */
export const callData = (selector: Hex, ...words: readonly string[]): Hex => `${selector}${words.join('')}`
