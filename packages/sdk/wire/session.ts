/**
 * Sessions: a cookie for browsers, and the cursor at which a stream is resumed.
 *
 * The cursor is chain-wide and opaque; it begins after `snapshot_sequence`.
 */
import { Feed } from './health.ts'
import { ChainId } from './identifier.ts'
import { Scope } from './key.ts'
import { Count, Ms, Sequence } from './quantity.ts'
import { array, describe, nullable, object, optional, type Static, strictObject, string } from './schema.ts'

/** The range of the log: replay reaches back to `oldest_sequence`. */
const LogRange = object({ oldest_sequence: Sequence, head_sequence: Sequence })

const SessionLife = object({ expires_at_ms: Ms })

/** Response of POST /v1/session. */
export const Session = object({
  session: SessionLife,
  resume_cursor: nullable(string()),
  cursor_expires_at_ms: nullable(Ms),
  schema_version: Count,
  stream: LogRange,
  feed: optional(describe("With `chain_id`: the chain's feed as it is now.", Feed)),
})
export type Session = Static<typeof Session>

/** Query of POST /v1/session; `snapshot_sequence` needs `chain_id`. */
export const SessionQuery = strictObject({
  chain_id: optional(ChainId),
  snapshot_sequence: optional(Sequence),
})
export type SessionQuery = Static<typeof SessionQuery>

/** Response of GET /v1/session: a session has the scopes of the key that created it. */
export const SessionInfo = object({ session: SessionLife, scopes: array(Scope), consumer: string() })
export type SessionInfo = Static<typeof SessionInfo>
