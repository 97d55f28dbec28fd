/** A page cursor: where the next page starts, signed and bound to the query it came from. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { RequestError } from './apiError.ts'

const TAG_BYTES = 12

/** `query` contains everything that must be the same on the next page. */
export function sealPage(secret: Uint8Array, query: string, position: readonly (string | number)[]): string {
  const body = Buffer.from(JSON.stringify(position))
  return Buffer.concat([tagOf(secret, query, body), body]).toString('base64url')
}

export function openPage(secret: Uint8Array, query: string, cursor: string): readonly (string | number)[] {
  const bytes = Buffer.from(cursor, 'base64url')
  const body = bytes.subarray(TAG_BYTES)
  if (
    !/^[A-Za-z0-9_-]{16,400}$/.test(cursor) ||
    // An extra character, or other bits in the last one, would decode to the same bytes.
    bytes.toString('base64url') !== cursor ||
    !timingSafeEqual(bytes.subarray(0, TAG_BYTES), tagOf(secret, query, body))
  )
    throw new RequestError(
      400,
      'cursor does not belong to this query; expected the next_cursor of its previous page',
    )
  return JSON.parse(body.toString()) as readonly (string | number)[]
}

const tagOf = (secret: Uint8Array, query: string, body: Uint8Array): Buffer =>
  createHmac('sha256', secret).update(query).update('\0').update(body).digest().subarray(0, TAG_BYTES)
