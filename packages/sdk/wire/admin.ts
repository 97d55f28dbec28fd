/**
 * Everything an operator reads and changes besides keys: consumers, policy, back-fill, retention, the audit log; in a
 * local world, incidents.
 */
import { Address, ChainId, Hash } from './identifier.ts'
import { NextCursor, pageQueryFields } from './page.ts'
import { CompactState } from './price.ts'
import { Count, Ms } from './quantity.ts'
import {
  anyObject,
  array,
  boolean,
  describe,
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

/** Response of GET and PUT /v1/admin/consumers/{consumer}. */
export const ConsumerRecord = object({ consumer: string(), limits: object(limitFields) })
export type ConsumerRecord = Static<typeof ConsumerRecord>

/** Body of PUT /v1/admin/consumers/{consumer}: all of the consumer's limits. */
export const LimitsRequest = strictObject(limitFields)
export type LimitsRequest = Static<typeof LimitsRequest>

/** Body of POST /v1/admin/tokens/{chain_id}/{token_address}/decimals: the number that the token reports now. */
export const DecimalsRequest = strictObject({ decimals: integer({ minimum: 0, maximum: 36 }) })
export type DecimalsRequest = Static<typeof DecimalsRequest>

/** GET /v1/policies/{policy_version} and /v1/admin/policy. The engine owns and checks the policy's own fields. */
export const PolicyRecord = object({ policy_version: string(), policy: anyObject() })
export type PolicyRecord = Static<typeof PolicyRecord>

/** Body of PUT /v1/admin/policy and POST /v1/admin/policy/dry-run: any subset of the policy. */
export const PolicyRequest = anyObject()

/** The effect that a policy would have if it were in force now. */
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

/** A back-fill of a chain, past or present. A `STOPPED` one resumes where it was when it is requested again. */
export const Backfill = object({
  chain_id: ChainId,
  status: known(['RUNNING', 'DONE', 'STOPPED', 'FAILED']),
  from_block: nullable(Count),
  to_block: nullable(Count),
  /** Every block below this one is done. */
  next_block: nullable(Count),
  events: Count,
  eta_s: nullable(Count),
  error: nullable(string()),
})
export type Backfill = Static<typeof Backfill>
export const BackfillList = object({ backfills: array(Backfill) })
export type BackfillList = Static<typeof BackfillList>

const retentionFields = {
  hours: integer({ minimum: 1 }),
  records: integer({ minimum: 1 }),
  history_days: optional(
    describe(
      'How long published prices can be read after their records are deleted; absent, as long as the records.',
      nullable(integer({ minimum: 1 })),
    ),
  ),
} as const

/** The log keeps at least as much as both values require. */
export const Retention = object(retentionFields)
export type Retention = Static<typeof Retention>

/** Body of PUT /v1/admin/retention. Without `history_days`, that stays as it is; null ends it. */
export const RetentionRequest = strictObject(retentionFields)

/** One change, its author, and the new value. */
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

/** Body of POST /v1/admin/incidents; without a token, the service picks a suitable one. */
export const IncidentRequest = strictObject({
  name: string(),
  chain_id: ChainId,
  token: optional(string()),
  /** For a reorganisation, in blocks. */
  depth: optional(integer({ minimum: 1, maximum: 64 })),
  /** Ends the incident instead of starting it. */
  end: optional(boolean()),
})
export type IncidentRequest = Static<typeof IncidentRequest>

/** A requested incident. It waits for a block, so it is RUNNING for up to half a minute. */
export const CausedIncident = object({
  name: string(),
  chain_id: ChainId,
  end: boolean(),
  at_ms: Ms,
  status: known(['RUNNING', 'DONE', 'FAILED']),
  /** What happened, or why the incident failed. */
  what: nullable(string()),
  token: nullable(string()),
  pools: array(Address),
  block: nullable(object({ number: Count, hash: Hash })),
})
export type CausedIncident = Static<typeof CausedIncident>

/**
 * Incidents that can be caused: in a local world a list, on real chains none. The newest caused incident comes first.
 */
export const IncidentList = object({
  incidents: array(object({ name: string(), about: string(), has_end: boolean() })),
  caused: array(CausedIncident),
})
export type IncidentList = Static<typeof IncidentList>
