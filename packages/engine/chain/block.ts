/**
 * Blocks and the pool events inside them, as the engine receives them: already fetched and verified by
 * hash. Addresses and hashes are lower-case hex; a decoder that lets another case through breaks identity.
 */
import type { Born, FamilyEvent } from '../amm/families.ts'
import type { Family } from '../amm/familyNames.ts'
import type { Count, Ms } from '../units.ts'

export type Hex = `0x${string}`
export type Address = Hex

export type BlockRef = { readonly number: Count; readonly hash: Hex; readonly timeMs: Ms }

/**
 * How the completeness of a block's logs was proven: by recomputing the receipts root, by equal log digests from two
 * endpoints, or not at all.
 */
export type Proof = 'receipts' | 'digest' | 'none'

export type Block = BlockRef & {
  readonly parentHash: Hex
  readonly proof: Proof
  /** In order of log index. */
  readonly events: readonly PoolEvent[]
}

/** An unbroken run of blocks whose logs are proven complete: it re-verifies every pool that the run did not touch. */
export type ProvenRun = { readonly first: Count; readonly last: Count; readonly lastMs: Ms }

/** The position of a log. */
export type LogPosition = { readonly transactionHash: Hex; readonly logIndex: Count }

export type PoolEvent = LogPosition & { readonly pool: Address } & (
    | FamilyEvent
    | { readonly family: Family; readonly event: PoolCreated }
  )

/** A factory's own log. Tick spacing comes from here, never from a table of fee tiers. */
export type PoolCreated = { readonly kind: 'CREATED'; readonly pool: NewPool }

/** What never changes about a pool. */
export type NewPool = {
  readonly address: Address
  readonly deploymentId: string
  readonly token0: Address
  readonly token1: Address
  readonly fee: Born
}

/** A pool of a family that Assay recognises but does not price. */
export type UnpricedPool = {
  readonly address: Address
  readonly family: string
  readonly deploymentId: string
}

/** `0x` and 20 bytes. A pool that is not a contract of its own is identified by 32 bytes. */
const ADDRESS_LENGTH = 42

/** The 32-byte identifier of the wire: the address, left-padded with zeros, or the 32 bytes that identify the pool. */
export const idOf = (address: Address): Hex =>
  address.length > ADDRESS_LENGTH ? address : `0x000000000000000000000000${address.slice(2)}`
