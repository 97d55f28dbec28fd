/** The position on the chain, and in the stream, of a statement. */
import { Hash } from './identifier.ts'
import { Count, Ms, Sequence } from './quantity.ts'
import { object, type Static } from './schema.ts'

const positionFields = { block_number: Count, block_hash: Hash, block_time_ms: Ms } as const

export const BlockPosition = object(positionFields)
export type BlockPosition = Static<typeof BlockPosition>

/** The block an evaluation is based on, and the sequence of its record. */
export const AsOf = object({ stream_sequence: Sequence, ...positionFields })
export type AsOf = Static<typeof AsOf>
