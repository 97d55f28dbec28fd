/**
 * Identifiers: chains, addresses, ids and hashes.
 *
 * Identifiers we send are lower case, so equal identifiers are equal strings. Identifiers we receive may have any
 * case; the server decides whether mixed case carries a valid checksum.
 */
import { describe, integer, pattern, type Static } from './schema.ts'

export const ChainId = integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** 20 bytes, lower case. */
export const Address = pattern<`0x${string}`>('^0x[0-9a-f]{40}$')
export type Address = Static<typeof Address>

/** The identifier of a pool: its address, or the 32-byte id of a pool that is not a contract of its own. Lower case. */
export const PoolAddress = describe(
  'The address of the pool; of a pool of Uniswap v4 its 32-byte id.',
  pattern<`0x${string}`>('^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$'),
)

/** An address as a caller may write it. */
export const AddressInput = describe(
  'Any case; mixed case must carry a valid EIP-55 checksum.',
  pattern<`0x${string}`>('^0x[0-9a-fA-F]{40}$'),
)

/** A pool as a caller may name it; the `pool_id` of any pool is accepted. */
export const PoolAddressInput = describe(
  'Any case; 20 bytes, whose mixed case must carry a valid EIP-55 checksum, or 32.',
  pattern<`0x${string}`>('^0x(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$'),
)

/** `pool_id` or `token_id`: 32 bytes, lower case, opaque. */
export const Id = describe('32 bytes; opaque.', pattern<`0x${string}`>('^0x[0-9a-f]{64}$'))
export type Id = Static<typeof Id>

/** A block, transaction or genesis hash. */
export const Hash = pattern<`0x${string}`>('^0x[0-9a-f]{64}$')

const PADDING = '0'.repeat(24)

/** The address of a token or a pool from its id; for a pool without an address, the id itself. */
export const fromId = (id: string): `0x${string}` =>
  id.startsWith(`0x${PADDING}`) ? `0x${id.slice(2 + PADDING.length)}` : (id as `0x${string}`)

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** Whether the text has the form of an address, in any case; its checksum is not verified. */
export const isAddress = (text: string): text is Address => ADDRESS.test(text)

const ID = /^0x[0-9a-fA-F]{64}$/

/**
 * The id of a token or a pool on the stream: its address left-padded with zeros to 32 bytes, or the 32 bytes that
 * identify the pool.
 */
export function toId(address: string): Id {
  if (ID.test(address)) return address.toLowerCase() as Id
  if (!isAddress(address)) throw new RangeError(`${JSON.stringify(address)} is not an address`)
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}
