/** Lower-case hex digits in bytes: recognised and read several at a time. */

/** The value of a digit; 255 for what is none, capitals among them. */
export const DIGIT = new Uint8Array(256).fill(255)
for (const [value, digit] of Buffer.from('0123456789abcdef').entries()) DIGIT[digit] = value

/**
 * Zero when each of four bytes is a digit. A letter has the bit 0x40 and is moved down to where it follows the 9; then all
 * lie in 0x30…0x3f, and adding 6 gives that bit back to the letters alone.
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

/** What eight digits write, with the sign of a number of 32 bits. */
export const eightAt = (view: DataView, at: number): number =>
  (valueOf(view.getInt32(at)) << 16) | valueOf(view.getInt32(at + 4))

/** What four digits write: their values first, one to a byte, then two to a byte, then together. */
function valueOf(four: number): number {
  const values = (four & 0x0f0f0f0f) + Math.imul((four >>> 6) & 0x01010101, 9)
  const pairs = values | (values >>> 4)
  return ((pairs >>> 8) & 0xff00) | (pairs & 0xff)
}

/** Writes the bytes of an even number of digits; gives the offset after them. */
export function writeBytes(view: DataView, from: number, end: number, out: DataView, to: number): number {
  let at = from
  let next = to
  for (; at + 8 <= end; at += 8, next += 4) out.setInt32(next, eightAt(view, at))
  for (; at < end; at += 2, next++)
    out.setUint8(next, ((DIGIT[view.getUint8(at)] as number) << 4) | (DIGIT[view.getUint8(at + 1)] as number))
  return next
}
