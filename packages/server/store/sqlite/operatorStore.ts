/** Limits, policies, settings, requested enrolments, and the audit trail read back. */
import type { ConsumerRow, EnrolmentClaim, OperatorStore } from '../operator.ts'
import type { AuditRow } from '../port.ts'
import type { Connection } from './connection.ts'
import { rowLimit } from '../rowLimit.ts'
import { tokenReader } from './snapshotStore.ts'

type AuditEntry = AuditRow & { readonly id: number }

export function operatorStore(connection: Connection): OperatorStore {
  const readConsumer = connection.prepare('SELECT consumer, limits FROM consumer WHERE consumer = ?')
  const writeLimits = connection.prepare('UPDATE consumer SET limits = ? WHERE consumer = ?')
  const readAudit = connection.prepare(`
    SELECT id, at_ms AS atMs, actor, action, subject, detail FROM audit
    WHERE id < ? ORDER BY id DESC LIMIT ?`)
  const writePolicy = connection.prepare(
    'INSERT INTO policy (policy_version, policy, first_used_at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const readPolicy = connection.prepare('SELECT policy FROM policy WHERE policy_version = ?')
  const readSetting = connection.prepare('SELECT CAST(value AS TEXT) AS value FROM meta WHERE name = ?')
  const writeSetting = connection.prepare(`
    INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`)
  const dropSetting = connection.prepare('DELETE FROM meta WHERE name = ?')
  const touchEnrolment = connection.prepare(
    'UPDATE enrolment SET last_asked_at_ms = ? WHERE chain_id = ? AND token_address = ?',
  )
  const noteAsked = connection.prepare(`
    UPDATE enrolment SET last_asked_at_ms = max(last_asked_at_ms, ?) WHERE chain_id = ? AND token_address = ?`)
  const readIdle = connection.prepare(`
    SELECT token_address AS tokenAddress FROM enrolment
    WHERE chain_id = ? AND last_asked_at_ms < ? ORDER BY last_asked_at_ms, token_address`)
  const insertEnrolment = connection.prepare(`
    INSERT INTO enrolment (chain_id, token_address, consumer, enrolled_at_ms, last_asked_at_ms)
    VALUES (?, ?, ?, ?, ?)`)
  const countEnrolments = connection.prepare(
    'SELECT count(*) AS enrolments FROM enrolment WHERE consumer = ? AND enrolled_at_ms > ?',
  )
  const tokens = tokenReader(connection)
  const settingName = (name: string) => `setting/${name}`

  const claim = ({ chainId, tokenAddress, consumer, atMs, sinceMs, most }: EnrolmentClaim): boolean => {
    if (touchEnrolment.run(atMs, chainId, tokenAddress).changes === 1) return true
    const { enrolments } = countEnrolments.get(consumer, sinceMs) as { enrolments: number }
    if (enrolments >= most) return false
    insertEnrolment.run(chainId, tokenAddress, consumer, atMs, atMs)
    return true
  }
  return {
    async readConsumer(consumer) {
      return (connection.query(() => readConsumer.get(consumer)) as ConsumerRow | undefined) ?? null
    },
    async writeLimits(consumer, limits) {
      return connection.write(() => writeLimits.run(limits, consumer).changes === 1)
    },
    async readAudit(before, limit) {
      const most = rowLimit(limit)
      return connection.query(() =>
        readAudit.all(before ?? Number.MAX_SAFE_INTEGER, most),
      ) as unknown as AuditEntry[]
    },
    async writePolicy(policyVersion, policy, atMs) {
      await connection.write(() => writePolicy.run(policyVersion, policy, atMs))
    },
    async readPolicy(policyVersion) {
      const row = connection.query(() => readPolicy.get(policyVersion)) as { policy: string } | undefined
      return row?.policy ?? null
    },
    async readSetting(name) {
      const row = connection.query(() => readSetting.get(settingName(name))) as { value: string } | undefined
      return row?.value ?? null
    },
    async writeSetting(name, value) {
      await connection.write(() =>
        value === null
          ? dropSetting.run(settingName(name))
          : writeSetting.run(settingName(name), Buffer.from(value)),
      )
    },
    async claimEnrolments(wanted) {
      return connection.write(() => wanted.map(claim))
    },
    async noteAsked(asked) {
      await connection.write(() => {
        for (const { chainId, tokenAddress, atMs } of asked) noteAsked.run(atMs, chainId, tokenAddress)
      })
    },
    async readIdle(chainId, sinceMs) {
      const rows = connection.query(() => readIdle.all(chainId, sinceMs)) as { tokenAddress: string }[]
      return rows.map(({ tokenAddress }) => tokenAddress)
    },
    async readTokensOf(wanted) {
      return connection.read(() =>
        wanted.map(({ chainId, tokenAddress }) => tokens.one(chainId, tokenAddress)),
      )
    },
  }
}
