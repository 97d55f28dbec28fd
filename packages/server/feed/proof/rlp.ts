/**
 * RLP (yellow paper, appendix B) of hex and of lists of it, written into one buffer: sizes first, then bytes. Hex must
 * have an even number of digits; pass integers through `integer` first.
 */
import type { Hex } from '../../ops/hex.ts'

export type RlpItem = Hex | readonly RlpItem[]

export function encodeRlp(item: RlpItem): Buffer {
  const payloads: number[] = []
  const size = measure(item, payloads)
  const bytes = Buffer.allocUnsafe(size)
  write(item, bytes, 0, payloads, { at: 0 })
  return bytes
}

/** RLP encodes integers without leading zeros, and zero as no bytes at all. */
export function integer(quantity: Hex): Hex {
  let at = 2
  while (quantity.charCodeAt(at) === 48) at++
  const isOdd = (quantity.length - at) % 2 === 1
  if (at === 2 && !isOdd) return quantity
  return `0x${isOdd ? '0' : ''}${quantity.slice(at)}`
}

/**
 * Number of prefix bytes for a payload of this size. A single byte below 0x80 has no prefix; the caller must check
 * that.
 */
export const headSize = (payload: number): number => (payload < 56 ? 1 : 1 + byteLength(payload))

/** Writes the prefix of a payload; returns the offset after it. */
export function writeHead(bytes: Uint8Array, at: number, payload: number, base: 0x80 | 0xc0): number {
  if (payload < 56) {
    bytes[at] = base + payload
    return at + 1
  }
  const length = byteLength(payload)
  bytes[at] = base + 55 + length
  for (let n = 0; n < length; n++) bytes[at + length - n] = payload >>> (8 * n)
  return at + 1 + length
}

const byteLength = (value: number): number =>
  value < 0x100 ? 1 : value < 0x1_0000 ? 2 : value < 0x100_0000 ? 3 : 4

/** The whole size of an item; appends the payload size of every list in the order of traversal. */
function measure(item: RlpItem, payloads: number[]): number {
  if (typeof item === 'string') {
    const payload = (item.length - 2) / 2
    return isBareByte(item) ? 1 : headSize(payload) + payload
  }
  const slot = payloads.push(0) - 1
  let payload = 0
  for (const each of item) payload += measure(each, payloads)
  payloads[slot] = payload
  return headSize(payload) + payload
}

function write(
  item: RlpItem,
  bytes: Buffer,
  at: number,
  payloads: readonly number[],
  list: { at: number },
): number {
  if (typeof item !== 'string') {
    let end = writeHead(bytes, at, payloads[list.at++] as number, 0xc0)
    for (const each of item) end = write(each, bytes, end, payloads, list)
    return end
  }
  const payload = (item.length - 2) / 2
  const start = isBareByte(item) ? at : writeHead(bytes, at, payload, 0x80)
  if (payload > 0) bytes.write(item.slice(2), start, payload, 'hex')
  return start + payload
}

/** One byte below 0x80 is its own encoding. */
const isBareByte = (item: Hex): boolean => item.length === 4 && item.charCodeAt(2) < 0x38
