/** Limits, policies, settings, requested enrolments, and the audit trail read back. */
import type { ConsumerRow, EnrolmentClaim, OperatorStore } from '../operator.ts'
import type { AuditRow, TokenRow } from '../port.ts'
import { rowLimit } from '../rowLimit.ts'
import { type Connection, type Query, statement } from './connection.ts'
import { tokenRow, tokens } from './snapshotStore.ts'

const CONSUMER = statement('SELECT consumer, limits FROM consumer WHERE consumer = $1')
const LIMITS = statement('UPDATE consumer SET limits = $1 WHERE consumer = $2 RETURNING consumer')
const AUDIT = statement(`
  SELECT id, at_ms AS "atMs", actor, action, subject, detail FROM audit
  WHERE id < $1 ORDER BY id DESC LIMIT $2`)
const WRITE_POLICY = statement(
  'INSERT INTO policy (policy_version, policy, first_used_at_ms) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
)
const POLICY = statement('SELECT policy FROM policy WHERE policy_version = $1')
const SETTING = statement('SELECT value FROM meta WHERE name = $1')
const WRITE_SETTING = statement(`
  INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`)
const DROP_SETTING = statement('DELETE FROM meta WHERE name = $1')
// Enrolments for a consumer are serialised, so that the count misses none.
const LOCK_CONSUMER = statement('SELECT 1 FROM consumer WHERE consumer = $1 FOR UPDATE')
const TOUCH = statement(`
  UPDATE enrolment SET last_asked_at_ms = $1 WHERE chain_id = $2 AND token_address = $3 RETURNING chain_id`)
// Every node locks its rows in the same order, which prevents deadlocks.
const NOTE_ASKED = statement(`
  WITH asked AS (
    SELECT chain_id, token_address, at_ms
    FROM enrolment JOIN unnest($1::bigint[], $2::text[], $3::bigint[]) AS given (chain_id, token_address, at_ms)
      USING (chain_id, token_address)
    ORDER BY chain_id, token_address FOR UPDATE OF enrolment
  )
  UPDATE enrolment SET last_asked_at_ms = greatest(last_asked_at_ms, asked.at_ms)
  FROM asked
  WHERE enrolment.chain_id = asked.chain_id AND enrolment.token_address = asked.token_address`)
const IDLE = statement(`
  SELECT token_address AS "tokenAddress" FROM enrolment
  WHERE chain_id = $1 AND last_asked_at_ms < $2 ORDER BY last_asked_at_ms, token_address`)
const COUNT = statement(
  'SELECT count(*) AS enrolments FROM enrolment WHERE consumer = $1 AND enrolled_at_ms > $2',
)
const INSERT = statement(`
  INSERT INTO enrolment (chain_id, token_address, consumer, enrolled_at_ms, last_asked_at_ms)
  VALUES ($1, $2, $3, $4, $4) ON CONFLICT (chain_id, token_address) DO NOTHING`)
const TOKENS_OF = tokens(`
  JOIN unnest($1::bigint[], $2::text[]) AS wanted (chain_id, token_address) USING (chain_id, token_address)`)

const settingName = (name: string) => `setting/${name}`

export function operatorStore(connection: Connection): OperatorStore {
  return {
    async readConsumer(consumer) {
      return (await connection.query<ConsumerRow>(CONSUMER, [consumer]))[0] ?? null
    },
    async writeLimits(consumer, limits) {
      return (await connection.query(LIMITS, [limits, consumer])).length === 1
    },
    readAudit: async (before, limit) =>
      connection.query<AuditRow & { readonly id: number }>(AUDIT, [
        before ?? Number.MAX_SAFE_INTEGER,
        rowLimit(limit),
      ]),
    async writePolicy(policyVersion, policy, atMs) {
      await connection.query(WRITE_POLICY, [policyVersion, policy, atMs])
    },
    async readPolicy(policyVersion) {
      return (await connection.query<{ policy: string }>(POLICY, [policyVersion]))[0]?.policy ?? null
    },
    async readSetting(name) {
      const [row] = await connection.query<{ value: Buffer }>(SETTING, [settingName(name)])
      return row?.value.toString() ?? null
    },
    async writeSetting(name, value) {
      if (value === null) await connection.query(DROP_SETTING, [settingName(name)])
      else await connection.query(WRITE_SETTING, [settingName(name), Buffer.from(value)])
    },
    claimEnrolments: wanted =>
      connection.write(async query => {
        const isWithin = new Map<string, boolean>()
        // The same order at every node, as above.
        for (const each of wanted.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)))
          isWithin.set(keyOf(each), await claim(query, each))
        return wanted.map(each => isWithin.get(keyOf(each)) === true)
      }),
    async noteAsked(asked) {
      await connection.query(NOTE_ASKED, [
        asked.map(({ chainId }) => chainId),
        asked.map(({ tokenAddress }) => tokenAddress),
        asked.map(({ atMs }) => atMs),
      ])
    },
    async readIdle(chainId, sinceMs) {
      const rows = await connection.query<{ tokenAddress: string }>(IDLE, [chainId, sinceMs])
      return rows.map(({ tokenAddress }) => tokenAddress)
    },
    async readTokensOf(wanted) {
      const distinct = [...new Map(wanted.map(each => [keyOf(each), each])).values()]
      const rows = await connection.query<TokenRow>(TOKENS_OF, [
        distinct.map(({ chainId }) => chainId),
        distinct.map(({ tokenAddress }) => tokenAddress),
      ])
      const known = new Map(rows.map(row => [keyOf(row), tokenRow(row)]))
      return wanted.map(each => known.get(keyOf(each)) ?? null)
    },
  }
}

async function claim(
  query: Query,
  { chainId, tokenAddress, consumer, atMs, sinceMs, most }: EnrolmentClaim,
): Promise<boolean> {
  await query(LOCK_CONSUMER, [consumer])
  if ((await query(TOUCH, [atMs, chainId, tokenAddress])).length === 1) return true
  const [counted] = await query<{ enrolments: number }>(COUNT, [consumer, sinceMs])
  if ((counted?.enrolments ?? 0) >= most) return false
  await query(INSERT, [chainId, tokenAddress, consumer, atMs])
  return true
}

const keyOf = ({ chainId, tokenAddress }: Pick<TokenRow, 'chainId' | 'tokenAddress'>): string =>
  `${chainId} ${tokenAddress}`
