/**
 * The operator's calls: keys, limits, tokens, policy, retention, chains, the audit log of all of them, and incidents.
 */
import type {
  AuditPage,
  Backfill,
  BackfillList,
  BackfillRequest,
  CausedIncident,
  ConsumerRecord,
  DecimalsRequest,
  IncidentList,
  IncidentRequest,
  LimitsRequest,
  PolicyDiff,
  PolicyRecord,
  Retention,
} from '../wire/admin.ts'
import type { ChainPath } from '../wire/chain.ts'
import type { IssuedKey, KeyList, KeyRequest } from '../wire/key.ts'
import type { PendingQuote } from '../wire/quote.ts'
import type { Token, TokenPath } from '../wire/token.ts'
import { call, type Call, type CallOptions, type HttpOptions } from './http.ts'

type Overrides = Readonly<Record<string, unknown>>
type Page = { readonly limit?: number; readonly cursor?: string }

export type AdminClient = {
  /** Only this answer contains the key. */
  issueKey(wish: KeyRequest, options?: CallOptions): Promise<IssuedKey>
  fetchKeys(options?: CallOptions): Promise<KeyList>
  /** Replaces a key with a new one; the old key ends at once. */
  rollKey(keyId: string, options?: CallOptions): Promise<IssuedKey>
  revokeKey(keyId: string, options?: CallOptions): Promise<void>
  fetchConsumer(consumer: string, options?: CallOptions): Promise<ConsumerRecord>
  setLimits(consumer: string, limits: LimitsRequest, options?: CallOptions): Promise<ConsumerRecord>
  enrolToken(token: TokenPath, options?: CallOptions): Promise<Token | PendingQuote>
  unenrolToken(token: TokenPath, options?: CallOptions): Promise<void>
  /**
   * Makes changed decimals take effect at once, if the token still reports this number; otherwise they wait for half
   * an hour.
   */
  confirmDecimals(token: TokenPath, decimals: DecimalsRequest, options?: CallOptions): Promise<void>
  fetchPolicy(options?: CallOptions): Promise<PolicyRecord>
  /** Any subset of the policy, merged over the configured one; an empty subset undoes it. */
  setPolicy(overrides: Overrides, options?: CallOptions): Promise<PolicyRecord>
  /** What a policy would change, without applying it. */
  tryPolicy(overrides: Overrides, options?: CallOptions): Promise<PolicyDiff>
  fetchBackfills(options?: CallOptions): Promise<BackfillList>
  /** Scans the past of a chain; an interrupted back-fill resumes where it stopped. */
  startBackfill(request: BackfillRequest, options?: CallOptions): Promise<Backfill>
  fetchRetention(options?: CallOptions): Promise<Retention>
  setRetention(retention: Retention, options?: CallOptions): Promise<Retention>
  pauseChain(chain: ChainPath, options?: CallOptions): Promise<void>
  resumeChain(chain: ChainPath, options?: CallOptions): Promise<void>
  fetchAudit(page?: Page, options?: CallOptions): Promise<AuditPage>
  /** Incidents that can be caused in a local world, and those that were; empty on real chains. */
  fetchIncidents(options?: CallOptions): Promise<IncidentList>
  /** The incident has begun when the call answers; `fetchIncidents` reports its outcome. */
  causeIncident(wish: IncidentRequest, options?: CallOptions): Promise<CausedIncident>
}

export function adminClient(http: HttpOptions): AdminClient {
  const ask = <Result>(
    method: NonNullable<Call['method']>,
    path: string,
    options?: CallOptions,
    more: Pick<Call, 'body' | 'query'> = {},
  ): Promise<Result> => call(http, { method, path: `v1/admin/${path}`, ...more }, options)
  const tokenPath = ({ chain_id, token_address }: TokenPath) =>
    `tokens/${chain_id}/${encodeURIComponent(token_address)}`
  const keyPath = (keyId: string) => `keys/${encodeURIComponent(keyId)}`
  const consumerPath = (consumer: string) => `consumers/${encodeURIComponent(consumer)}`

  return {
    issueKey: (body, options) => ask('POST', 'keys', options, { body }),
    fetchKeys: options => ask('GET', 'keys', options),
    rollKey: (keyId, options) => ask('POST', `${keyPath(keyId)}/roll`, options),
    revokeKey: (keyId, options) => ask('DELETE', keyPath(keyId), options),
    fetchConsumer: (consumer, options) => ask('GET', consumerPath(consumer), options),
    setLimits: (consumer, body, options) => ask('PUT', consumerPath(consumer), options, { body }),
    enrolToken: (token, options) => ask('POST', tokenPath(token), options),
    unenrolToken: (token, options) => ask('DELETE', tokenPath(token), options),
    confirmDecimals: (token, body, options) => ask('POST', `${tokenPath(token)}/decimals`, options, { body }),
    fetchPolicy: options => ask('GET', 'policy', options),
    setPolicy: (body, options) => ask('PUT', 'policy', options, { body }),
    tryPolicy: (body, options) => ask('POST', 'policy/dry-run', options, { body }),
    fetchBackfills: options => ask('GET', 'backfill', options),
    startBackfill: (body, options) => ask('POST', 'backfill', options, { body }),
    fetchRetention: options => ask('GET', 'retention', options),
    setRetention: (body, options) => ask('PUT', 'retention', options, { body }),
    pauseChain: ({ chain_id }, options) => ask('POST', `chains/${chain_id}/pause`, options),
    resumeChain: ({ chain_id }, options) => ask('POST', `chains/${chain_id}/resume`, options),
    fetchAudit: (query = {}, options) => ask('GET', 'audit', options, { query }),
    fetchIncidents: options => ask('GET', 'incidents', options),
    causeIncident: (body, options) => ask('POST', 'incidents', options, { body }),
  }
}
