/**
 * Identifiers: chains, addresses, ids and hashes.
 *
 * What we send is lower case, so equal identifiers are equal strings. What we receive may be of any case;
 * whether mixed case carries a valid checksum is for the server to judge.
 */
import { describe, integer, pattern, type Static } from './schema.ts'

export const ChainId = integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** 20 bytes, lower case. */
export const Address = pattern<`0x${string}`>('^0x[0-9a-f]{40}$')
export type Address = Static<typeof Address>

/** An address as a caller may write it. */
export const AddressInput = describe(
  'Any case; mixed case must carry a valid EIP-55 checksum.',
  pattern<`0x${string}`>('^0x[0-9a-fA-F]{40}$'),
)

/** `pool_id` or `token_id`: 32 bytes, lower case, opaque. */
export const Id = describe('32 bytes; opaque.', pattern<`0x${string}`>('^0x[0-9a-f]{64}$'))
export type Id = Static<typeof Id>

/** A block, transaction or genesis hash. */
export const Hash = pattern<`0x${string}`>('^0x[0-9a-f]{64}$')

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** Whether the text has the form of an address, in any case; its checksum is not looked at. */
export const isAddress = (text: string): text is Address => ADDRESS.test(text)

/** The id under which an address goes over the stream: left-padded with zeros to 32 bytes. */
export function toId(address: string): Id {
  if (!isAddress(address)) throw new RangeError(`${JSON.stringify(address)} is not an address`)
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}
