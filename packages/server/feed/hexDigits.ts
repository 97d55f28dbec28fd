/** Digits of hex in lower case, told from other bytes one at a time or sixteen at once. */

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
