/** What an operator reads and changes besides keys: consumers, policy, back-fill, retention, the audit log; in a local world, incidents. */
import { Address, ChainId, Hash } from './identifier.ts'
import { NextCursor, pageQueryFields } from './page.ts'
import { CompactState } from './price.ts'
import { Count, Ms } from './quantity.ts'
import {
  anyObject,
  array,
  boolean,
  integer,
  known,
  nullable,
  object,
  optional,
  type Static,
  strictObject,
  string,
} from './schema.ts'

const limitFields = {
  units: integer({ minimum: 1 }),
  window_ms: integer({ minimum: 1000 }),
  burst: integer({ minimum: 1 }),
  stream_connections: Count,
  enrolments_per_day: Count,
} as const

/** Answer of GET, PUT /v1/admin/consumers/{consumer}. */
export const ConsumerRecord = object({ consumer: string(), limits: object(limitFields) })
export type ConsumerRecord = Static<typeof ConsumerRecord>

/** Body of PUT /v1/admin/consumers/{consumer}: all of its limits. */
export const LimitsRequest = strictObject(limitFields)
export type LimitsRequest = Static<typeof LimitsRequest>

/** Body of POST /v1/admin/tokens/{chain_id}/{token_address}/decimals: the number that the token says now. */
export const DecimalsRequest = strictObject({ decimals: integer({ minimum: 0, maximum: 36 }) })
export type DecimalsRequest = Static<typeof DecimalsRequest>

/** GET /v1/policies/{policy_version} and /v1/admin/policy. The engine owns and checks the policy's own fields. */
export const PolicyRecord = object({ policy_version: string(), policy: anyObject() })
export type PolicyRecord = Static<typeof PolicyRecord>

/** Body of PUT /v1/admin/policy and POST /v1/admin/policy/dry-run: any subset of the policy. */
export const PolicyRequest = anyObject()

/** What a policy would change, had it been in force now. */
export const PolicyDiff = object({
  policy_version: string(),
  changes: array(
    object({
      chain_id: ChainId,
      token_address: Address,
      before: nullable(CompactState),
      after: nullable(CompactState),
    }),
  ),
})
export type PolicyDiff = Static<typeof PolicyDiff>

/** Body of POST /v1/admin/backfill; without bounds, from the first deployment to the finalized block. */
export const BackfillRequest = strictObject({
  chain_id: ChainId,
  from_block: optional(Count),
  to_block: optional(Count),
})
export type BackfillRequest = Static<typeof BackfillRequest>

/** One of a chain that was ever begun. `STOPPED` goes on where it was when it is asked for again. */
export const Backfill = object({
  chain_id: ChainId,
  status: known(['RUNNING', 'DONE', 'STOPPED', 'FAILED']),
  from_block: nullable(Count),
  to_block: nullable(Count),
  /** Everything below is done. */
  next_block: nullable(Count),
  events: Count,
  eta_s: nullable(Count),
  error: nullable(string()),
})
export type Backfill = Static<typeof Backfill>
export const BackfillList = object({ backfills: array(Backfill) })
export type BackfillList = Static<typeof BackfillList>

const retentionFields = { hours: integer({ minimum: 1 }), records: integer({ minimum: 1 }) } as const

/** The log keeps at least both. */
export const Retention = object(retentionFields)
export type Retention = Static<typeof Retention>

/** Body of PUT /v1/admin/retention. */
export const RetentionRequest = strictObject(retentionFields)

/** One change, who made it, and what it was made to. */
export const AuditEntry = object({
  at_ms: Ms,
  actor: string(),
  action: string(),
  subject: string(),
  detail: nullable(string()),
})
export const AuditPage = object({ entries: array(AuditEntry), next_cursor: NextCursor })
export type AuditPage = Static<typeof AuditPage>

/** Query of GET /v1/admin/audit. */
export const AuditQuery = strictObject(pageQueryFields)

/** Body of POST /v1/admin/incidents; left out, the token is one that suits. */
export const IncidentRequest = strictObject({
  name: string(),
  chain_id: ChainId,
  token: optional(string()),
  /** Of a reorganisation, in blocks. */
  depth: optional(integer({ minimum: 1, maximum: 64 })),
  /** Ends it in place of beginning it. */
  end: optional(boolean()),
})
export type IncidentRequest = Static<typeof IncidentRequest>

/** One that was asked for. It waits for a block, so it is RUNNING for up to half a minute. */
export const CausedIncident = object({
  name: string(),
  chain_id: ChainId,
  end: boolean(),
  at_ms: Ms,
  status: known(['RUNNING', 'DONE', 'FAILED']),
  /** What happened, or why it could not. */
  what: nullable(string()),
  token: nullable(string()),
  pools: array(Address),
  block: nullable(object({ number: Count, hash: Hash })),
})
export type CausedIncident = Static<typeof CausedIncident>

/** What can be made to go wrong: in a local world a list, on real chains nothing. The newest that was caused comes first. */
export const IncidentList = object({
  incidents: array(object({ name: string(), about: string(), has_end: boolean() })),
  caused: array(CausedIncident),
})
export type IncidentList = Static<typeof IncidentList>
