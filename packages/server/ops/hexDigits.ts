/** Recognises and reads lower-case hex digits in bytes, several at a time. */

/** The value of a digit; 255 for any other byte, upper case included. */
export const DIGIT = new Uint8Array(256).fill(255)
for (const [value, digit] of Buffer.from('0123456789abcdef').entries()) DIGIT[digit] = value

/**
 * Zero when each of four bytes is a digit. A letter has the bit 0x40 and is shifted down to follow the 9; then all are
 * in 0x30…0x3f, and adding 6 sets that bit again for the letters only.
 */
function oddIn(four: number): number {
  const moved = (four - Math.imul((four >>> 6) & 0x01010101, 0x27)) | 0
  return ((moved & 0xf0f0f0f0) ^ 0x30303030) | (((moved + 0x06060606) ^ four) & 0x40404040)
}

/** Zero when each of sixteen bytes is a digit. */
export const oddAt = (view: DataView, at: number): number =>
  oddIn(view.getInt32(at, true)) |
  oddIn(view.getInt32(at + 4, true)) |
  oddIn(view.getInt32(at + 8, true)) |
  oddIn(view.getInt32(at + 12, true))

/** The value of eight digits, as a signed 32-bit number. */
export const eightAt = (view: DataView, at: number): number =>
  (valueOf(view.getInt32(at)) << 16) | valueOf(view.getInt32(at + 4))

/** The value of four digits: each digit first, then in pairs, then all together. */
function valueOf(four: number): number {
  const values = (four & 0x0f0f0f0f) + Math.imul((four >>> 6) & 0x01010101, 9)
  const pairs = values | (values >>> 4)
  return ((pairs >>> 8) & 0xff00) | (pairs & 0xff)
}

/** Writes the bytes of an even number of digits; returns the offset after them. */
export function writeBytes(view: DataView, from: number, end: number, out: DataView, to: number): number {
  let at = from
  let next = to
  for (; at + 8 <= end; at += 8, next += 4) out.setInt32(next, eightAt(view, at))
  for (; at < end; at += 2, next++)
    out.setUint8(next, ((DIGIT[view.getUint8(at)] as number) << 4) | (DIGIT[view.getUint8(at + 1)] as number))
  return next
}
