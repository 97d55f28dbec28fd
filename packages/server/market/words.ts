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

export function uintAt(data: Hex, at: number): bigint {
  const start = load(data, at)
  const lower = halfAt(start + HALF)
  // Reserves, prices and amounts are shorter than half their word.
  return areFilled(start, start + HALF, ZEROS) ? lower : (halfAt(start) << 128n) | lower
}

export function intAt(data: Hex, at: number): bigint {
  const start = load(data, at)
  const lower = halfAt(start + HALF)
  if (areFilled(start, start + HALF, ZEROS)) return lower
  // The upper half of a small amount below zero only repeats its sign.
  const isShort = areFilled(start, start + HALF, FS) && byteOf((start + HALF) >> 1) >= 0x80
  return isShort ? BigInt.asIntN(128, lower) : BigInt.asIntN(256, (halfAt(start) << 128n) | lower)
}

/** A word as a number; only for widths that fit, as that of a tick does. */
export function smallIntAt(data: Hex, at: number): number {
  const start = load(data, at)
  const value = eightAt(start + WORD - EIGHT)
  // All before its last eight digits only repeat its sign.
  const isShort = areFilled(start, start + WORD - EIGHT, value < 0 ? FS : ZEROS)
  return isShort ? value : Number(intAt(data, at))
}

export const addressAt = (data: Hex, at: number): Address => `0x${wordAt(data, at).slice(24)}`

/** A topic or a small word as a number; only for widths that fit. */
export const smallInt = (word: Hex): number => Number(BigInt.asIntN(256, BigInt(word)))
export const topicAddress = (topic: Hex): Address => `0x${topic.slice(26)}`

export const encodeAddress = (address: Address): string => address.slice(2).toLowerCase().padStart(64, '0')
export const encodeInt = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0')

/** A call: four bytes of selector and its words. */
export const callData = (selector: Hex, ...words: readonly string[]): Hex => `${selector}${words.join('')}`

/**
 * Digits are read from bytes, which is far quicker than from text; several words of a log are read in a row. They stand
 * so that a word begins at a multiple of eight: `0x` comes last of the first eight.
 */
const OFFSET = 6
const memory = new ArrayBuffer(8 + 64 * 16)
const digits = Buffer.from(memory)
const pairs = new Uint16Array(memory)
const quads = new Uint32Array(memory)
let loaded: Hex = '0x'
const half = new DataView(new ArrayBuffer(16))

/** In digits. */
const WORD = 64
const HALF = 32
const EIGHT = 8
const ZEROS = 0x30303030
const FS = 0x66666666

/** The byte that two digits write, by both at once as they stand in memory. */
const BYTE = new Uint8Array(0x10000)
const two = new Uint16Array(1)
for (let byte = 0; byte < 0x100; byte++) {
  Buffer.from(two.buffer).write(byte.toString(16).padStart(2, '0'), 'latin1')
  BYTE[two[0] as number] = byte
}

/** Where the digits of a word now stand. */
function load(data: Hex, at: number): number {
  const start = 2 + 64 * at
  const end = start + 64
  if (data.length < end) throw new RangeError(`word ${at} of ${wordCount(data)} is missing`)
  if (end + OFFSET > memory.byteLength) {
    loaded = '0x'
    digits.write(data.slice(start, end), 0, 'latin1')
    return 0
  }
  if (data !== loaded) {
    loaded = data
    digits.write(data, OFFSET, 'latin1')
  }
  return start + OFFSET
}

/** Whether there are the same four digits, again and again. */
function areFilled(start: number, end: number, four: number): boolean {
  for (let at = start >> 2; at < end >> 2; at++) if (quads[at] !== four) return false
  return true
}

/** Half a word, and mostly no more than half of that. */
function halfAt(start: number): bigint {
  half.setUint32(0, eightAt(start))
  half.setUint32(4, eightAt(start + 8))
  half.setUint32(8, eightAt(start + 16))
  half.setUint32(12, eightAt(start + 24))
  const lower = half.getBigUint64(8)
  return half.getUint32(0) === 0 && half.getUint32(4) === 0 ? lower : (half.getBigUint64(0) << 64n) | lower
}

/** Eight digits, with the sign of a number of 32 bits. */
function eightAt(start: number): number {
  const at = start >> 1
  return (byteOf(at) << 24) | (byteOf(at + 1) << 16) | (byteOf(at + 2) << 8) | byteOf(at + 3)
}

const byteOf = (pair: number): number => BYTE[pairs[pair] as number] as number
