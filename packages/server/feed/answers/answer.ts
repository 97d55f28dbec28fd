/**
 * Strict decoding of JSON fields sent by an endpoint: a hash is 32 bytes, a number is below 2^53, and hex is lower case
 * after decoding. A field that does not match is the endpoint's fault.
 */
import type { Hex } from '../../ops/hex.ts'
import { FeedError } from '../feedError.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Runs a decoder of block data and turns a field that cannot be decoded into a failure of the endpoint. */
export function decodeAnswer<Result>(
  endpoint: string,
  what: string,
  decode: () => Result,
  code: 'ANSWER_MALFORMED' | 'BLOCK_REFUSED' = 'BLOCK_REFUSED',
): Result {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    throw new FeedError(code, endpoint, `${what}: ${error.message}`)
  }
}

export function toFields(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new FieldError('an object was expected')
}

export function toList(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name]
  if (Array.isArray(value)) return value
  throw new FieldError(`${name} is not a list`)
}

export function toHash(fields: Fields, name: string): Hex {
  return toHex(fields, name, 32)
}

export function toBytes(fields: Fields, name: string): Hex {
  const value = toHexText(fields[name], name)
  if (value.length % 2 === 0) return value
  throw new FieldError(`${name} has half a byte`)
}

/** Hex of exactly this many bytes. */
export function toHex(fields: Fields, name: string, bytes: number): Hex {
  return hexOf(fields[name], name, bytes)
}

export function hexOf(value: unknown, name: string, bytes: number): Hex {
  const text = toHexText(value, name)
  if (text.length === 2 + bytes * 2) return text
  throw new FieldError(`${name} is not ${bytes} bytes`)
}

/** A quantity of any size that we pass on without computing with it. */
export function toQuantity(fields: Fields, name: string): Hex {
  return toHexText(fields[name], name)
}

/** A quantity that we compute with. */
export function toCount(fields: Fields, name: string): number {
  const text = fields[name]
  // `Number` gives NaN for a bare `0x` and for anything after it that is not hex.
  const value = typeof text === 'string' && text.startsWith('0x') ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value)) return value
  throw new FieldError(`${name} is not a number below 2^53`)
}

export class FieldError extends Error {}

const HEX = /^0x[0-9a-f]*$/

function toHexText(value: unknown, name: string): Hex {
  if (typeof value === 'string') {
    // Nearly all hex arrives in lower case already.
    if (HEX.test(value)) return value as Hex
    const text = value.toLowerCase()
    if (HEX.test(text)) return text as Hex
  }
  throw new FieldError(`${name} is not hex`)
}
