/**
 * A place in the log that a client may come back to: epoch, chain, sequence, schema version and time of issue,
 * authenticated with a key of the database, opaque to everyone else.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type ResetReason, SCHEMA_VERSION } from '@assay/sdk/wire'
import type { LogBounds, Sequence } from '../store/port.ts'

export const CURSOR_LIFETIME_MS = 72 * 3_600_000

export type Cursor = {
  readonly epoch: number
  readonly chainId: number
  readonly sequence: Sequence
  readonly schemaVersion: number
  readonly issuedAtMs: number
}

const TAG_BYTES = 16

export function sealCursor(secret: Uint8Array, cursor: Cursor): string {
  const body = Buffer.from(
    [cursor.epoch, cursor.chainId, cursor.sequence, cursor.schemaVersion, cursor.issuedAtMs].join('.'),
  )
  return Buffer.concat([tagOf(secret, body), body]).toString('base64url')
}

/** Null for anything this database did not issue. */
export function openCursor(secret: Uint8Array, text: string): Cursor | null {
  if (!/^[A-Za-z0-9_-]{30,200}$/.test(text)) return null
  const bytes = Buffer.from(text, 'base64url')
  // A letter more, or other bits in the last one, would decode to the same.
  if (bytes.toString('base64url') !== text) return null
  const body = bytes.subarray(TAG_BYTES)
  if (!timingSafeEqual(bytes.subarray(0, TAG_BYTES), tagOf(secret, body))) return null
  const [epoch, chainId, sequence, schemaVersion, issuedAtMs] = body.toString().split('.').map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ]
  return { epoch, chainId, sequence, schemaVersion, issuedAtMs }
}

export type Wanted = { readonly chainIds: readonly number[]; readonly isNarrowed: boolean }

/** In the order of R-cursor-1, so that a client always learns the first thing that is wrong. */
export function checkCursor(
  cursor: Cursor | null,
  bounds: LogBounds,
  wanted: Wanted,
  nowMs: number,
): ResetReason | null {
  if (cursor === null || cursor.epoch !== bounds.epoch || cursor.sequence > bounds.head)
    return 'INVALID_CURSOR'
  if (cursor.schemaVersion !== SCHEMA_VERSION) return 'SCHEMA_MISMATCH'
  if (nowMs - cursor.issuedAtMs > CURSOR_LIFETIME_MS) return 'EXPIRED_CURSOR'
  if (wanted.isNarrowed || wanted.chainIds.length !== 1 || wanted.chainIds[0] !== cursor.chainId)
    return 'FILTER_MISMATCH'
  return cursor.sequence + 1 < bounds.oldest ? 'REPLAY_UNAVAILABLE' : null
}

const tagOf = (secret: Uint8Array, body: Uint8Array): Buffer =>
  createHmac('sha256', secret).update(body).digest().subarray(0, TAG_BYTES)
