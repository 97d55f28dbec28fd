/** Picks records of the stream by what they speak of. */
import type { Envelope } from '@assay/sdk'

type Upsert = Extract<Envelope, { type: 'PRICE_UPSERT' }>
type Retract = Extract<Envelope, { type: 'PRICE_RETRACT' }>
export type Swap = Extract<Envelope, { type: 'SWAP_OBSERVED' }>
type OfToken<Record extends Upsert | Retract> = Record & {
  readonly payload: Extract<Record['payload'], { scope: 'token' }>
}
type OfPool<Record extends Upsert | Retract> = Record & {
  readonly payload: Extract<Record['payload'], { scope: 'pool' }>
}

/** The 32-byte id of a 20-byte address, written out here rather than asked of the code under test. */
export const idOf = (address: string): `0x${string}` => `0x${address.slice(2).padStart(64, '0')}`

export const isSwap =
  (pool?: string) =>
  (record: Envelope): record is Swap =>
    record.type === 'SWAP_OBSERVED' && (pool === undefined || record.payload.pool_id === idOf(pool))

export const isTokenUpsert =
  (token: string) =>
  (record: Envelope): record is OfToken<Upsert> =>
    record.type === 'PRICE_UPSERT' &&
    record.payload.scope === 'token' &&
    record.payload.token_id === idOf(token)

export const isPoolUpsert =
  (pool: string) =>
  (record: Envelope): record is OfPool<Upsert> =>
    record.type === 'PRICE_UPSERT' && record.payload.scope === 'pool' && record.payload.pool_id === idOf(pool)

export const isTokenRetract =
  (token: string) =>
  (record: Envelope): record is OfToken<Retract> =>
    record.type === 'PRICE_RETRACT' &&
    record.payload.scope === 'token' &&
    record.payload.token_id === idOf(token)

export const isPoolRetract =
  (pool: string) =>
  (record: Envelope): record is OfPool<Retract> =>
    record.type === 'PRICE_RETRACT' &&
    record.payload.scope === 'pool' &&
    record.payload.pool_id === idOf(pool)

/** Null for records that have none. */
export const recordIdOf = ({ payload }: Envelope): string | null =>
  'record_id' in payload ? payload.record_id : null
