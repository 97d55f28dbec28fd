/**
 * ABI words of a log's data, read from its digits in the answer's buffer, because every swap has several of them.
 * Results of calls arrive as text and are read in `abiWords.ts`.
 */
import type { LogEntry } from '../feed/answers/entry.ts'
import { eightAt } from '../ops/hexDigits.ts'

type Data = Pick<LogEntry, 'text' | 'dataAt' | 'dataEnd'>

/** In hex digits. */
const WORD = 64
const HALF = 32
const EIGHT = 8
/** Four ASCII digits each. */
const ZEROS = 0x30303030
const FS = 0x66666666

const half = new DataView(new ArrayBuffer(16))

export function uintIn(data: Data, at: number): bigint {
  const { text } = data
  const start = wordIn(data, at)
  const lower = halfAt(text, start + HALF)
  // Reserves and amounts mostly fit in half a word.
  return areFilled(text, start, start + HALF, ZEROS) ? lower : (halfAt(text, start) << 128n) | lower
}

export function intIn(data: Data, at: number): bigint {
  const { text } = data
  const start = wordIn(data, at)
  const lower = halfAt(text, start + HALF)
  if (areFilled(text, start, start + HALF, ZEROS)) return lower
  // The upper half of a small negative amount only repeats its sign.
  const isShort = areFilled(text, start, start + HALF, FS) && eightAt(text, start + HALF) < 0
  return isShort ? BigInt.asIntN(128, lower) : BigInt.asIntN(256, (halfAt(text, start) << 128n) | lower)
}

/** As a number; only for widths that fit, such as that of a tick. */
export function smallIntIn(data: Data, at: number): number {
  const { text } = data
  const start = wordIn(data, at)
  const value = eightAt(text, start + WORD - EIGHT)
  // The digits before the last eight only repeat the sign.
  const isShort = areFilled(text, start, start + WORD - EIGHT, value < 0 ? FS : ZEROS)
  return isShort ? value : Number(intIn(data, at))
}

/** Offset of its digits. A missing word is the endpoint's error, never a zero. */
function wordIn({ dataAt, dataEnd }: Data, at: number): number {
  const start = dataAt + WORD * at
  if (start + WORD > dataEnd) throw new RangeError(`word ${at} of ${(dataEnd - dataAt) / WORD} is missing`)
  return start
}

/** Whether the range consists of these four digits repeated. */
function areFilled(text: DataView, start: number, end: number, four: number): boolean {
  for (let at = start; at < end; at += 4) if (text.getInt32(at) !== four) return false
  return true
}

/** Half a word, whose upper half is mostly zero. */
function halfAt(text: DataView, start: number): bigint {
  half.setInt32(8, eightAt(text, start + 16))
  half.setInt32(12, eightAt(text, start + 24))
  const lower = half.getBigUint64(8)
  if (areFilled(text, start, start + 16, ZEROS)) return lower
  half.setInt32(0, eightAt(text, start))
  half.setInt32(4, eightAt(text, start + 8))
  return (half.getBigUint64(0) << 64n) | lower
}
