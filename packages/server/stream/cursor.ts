/**
 * A position in the log that a client may resume from: epoch, scope, sequence, schema version and time of issue,
 * authenticated with a key of the database and opaque to everyone else.
 *
 * Its scope is one whole chain, or one filter of several chains or ids. The second kind is issued with server-sent
 * events, and only the same filter may resume from it.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { type ResetReason, SCHEMA_VERSION } from '@assay/sdk/wire'
import type { LogBounds, Sequence } from '../store/port.ts'
import type { Subscription } from './filter.ts'

export const CURSOR_LIFETIME_MS = 72 * 3_600_000

export type Cursor = {
  readonly epoch: number
  /** 0 when the scope is a filter. */
  readonly chainId: number
  /** The digest of that filter. */
  readonly filter?: string
  readonly sequence: Sequence
  readonly schemaVersion: number
  readonly issuedAtMs: number
}

const TAG_BYTES = 16
const DIGEST_LENGTH = 32
/** This prefix distinguishes the digest of a filter from a chain. */
const FILTER = 'f'

export function sealCursor(secret: Uint8Array, cursor: Cursor): string {
  const body = Buffer.from(
    [
      cursor.epoch,
      cursor.filter ?? cursor.chainId,
      cursor.sequence,
      cursor.schemaVersion,
      cursor.issuedAtMs,
    ].join('.'),
  )
  return Buffer.concat([tagOf(secret, body), body]).toString('base64url')
}

/** Null for anything this database did not issue. */
export function openCursor(secret: Uint8Array, text: string): Cursor | null {
  if (!/^[A-Za-z0-9_-]{30,200}$/.test(text)) return null
  const bytes = Buffer.from(text, 'base64url')
  // An extra character, or other bits in the last one, would decode to the same bytes.
  if (bytes.toString('base64url') !== text) return null
  const body = bytes.subarray(TAG_BYTES)
  if (!timingSafeEqual(bytes.subarray(0, TAG_BYTES), tagOf(secret, body))) return null
  const [epoch, of = '', sequence, schemaVersion, issuedAtMs] = body.toString().split('.')
  return {
    epoch: Number(epoch),
    ...(of.startsWith(FILTER) ? { chainId: 0, filter: of } : { chainId: Number(of) }),
    sequence: Number(sequence),
    schemaVersion: Number(schemaVersion),
    issuedAtMs: Number(issuedAtMs),
  }
}

export type Wanted = {
  readonly chainIds: readonly number[]
  readonly isNarrowed: boolean
  /** The digest that a cursor of this filter contains; left out where only cursors of a whole chain are accepted. */
  readonly filter?: string
}

/** Equal for equal chains and ids; types do not narrow a cursor. */
export function filterDigest({
  chainIds,
  poolIds,
  tokenIds,
}: Pick<Subscription, 'chainIds' | 'poolIds' | 'tokenIds'>): string {
  const text = JSON.stringify([chainIds, [...poolIds], [...tokenIds]])
  return `${FILTER}${hash('sha256', text).slice(0, DIGEST_LENGTH)}`
}

export const isOfWholeChain = ({ chainIds, isNarrowed }: Wanted): boolean =>
  chainIds.length === 1 && !isNarrowed

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
  const isIts =
    cursor.filter === undefined
      ? isOfWholeChain(wanted) && wanted.chainIds[0] === cursor.chainId
      : cursor.filter === wanted.filter
  if (!isIts) return 'FILTER_MISMATCH'
  return cursor.sequence + 1 < bounds.oldest ? 'REPLAY_UNAVAILABLE' : null
}

const tagOf = (secret: Uint8Array, body: Uint8Array): Buffer =>
  createHmac('sha256', secret).update(body).digest().subarray(0, TAG_BYTES)
