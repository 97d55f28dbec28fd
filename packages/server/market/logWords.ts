/**
 * ABI words of a log's data, read from its digits where they stand. Every swap has several of them; what is asked of a
 * contract comes as text and is read in `words.ts`.
 */
import type { LogEntry } from '../feed/answers/entry.ts'
import { eightAt } from '../ops/hexDigits.ts'

type Data = Pick<LogEntry, 'text' | 'dataAt' | 'dataEnd'>

/** In digits. */
const WORD = 64
const HALF = 32
const EIGHT = 8
/** Four digits each. */
const ZEROS = 0x30303030
const FS = 0x66666666

const half = new DataView(new ArrayBuffer(16))

export function uintIn(data: Data, at: number): bigint {
  const { text } = data
  const start = wordIn(data, at)
  const lower = halfAt(text, start + HALF)
  // Reserves and amounts are shorter than half their word.
  return areFilled(text, start, start + HALF, ZEROS) ? lower : (halfAt(text, start) << 128n) | lower
}

export function intIn(data: Data, at: number): bigint {
  const { text } = data
  const start = wordIn(data, at)
  const lower = halfAt(text, start + HALF)
  if (areFilled(text, start, start + HALF, ZEROS)) return lower
  // The upper half of a small amount below zero only repeats its sign.
  const isShort = areFilled(text, start, start + HALF, FS) && eightAt(text, start + HALF) < 0
  return isShort ? BigInt.asIntN(128, lower) : BigInt.asIntN(256, (halfAt(text, start) << 128n) | lower)
}

/** As a number; only for widths that fit, as that of a tick does. */
export function smallIntIn(data: Data, at: number): number {
  const { text } = data
  const start = wordIn(data, at)
  const value = eightAt(text, start + WORD - EIGHT)
  // All before its last eight digits only repeat its sign.
  const isShort = areFilled(text, start, start + WORD - EIGHT, value < 0 ? FS : ZEROS)
  return isShort ? value : Number(intIn(data, at))
}

/** Where its digits begin. A missing word is the endpoint's error, never a zero. */
function wordIn({ dataAt, dataEnd }: Data, at: number): number {
  const start = dataAt + WORD * at
  if (start + WORD > dataEnd) throw new RangeError(`word ${at} of ${(dataEnd - dataAt) / WORD} is missing`)
  return start
}

/** Whether there are the same four digits, again and again. */
function areFilled(text: DataView, start: number, end: number, four: number): boolean {
  for (let at = start; at < end; at += 4) if (text.getInt32(at) !== four) return false
  return true
}

/** Half a word, and mostly no more than half of that. */
function halfAt(text: DataView, start: number): bigint {
  half.setInt32(8, eightAt(text, start + 16))
  half.setInt32(12, eightAt(text, start + 24))
  const lower = half.getBigUint64(8)
  if (areFilled(text, start, start + 16, ZEROS)) return lower
  half.setInt32(0, eightAt(text, start))
  half.setInt32(4, eightAt(text, start + 8))
  return (half.getBigUint64(0) << 64n) | lower
}
