/** Keys, sessions, the audit trail and the database's own secrets. Only hashes of credentials are kept. */
import { randomBytes } from 'node:crypto'
import type { AccessStore, KeyRow, SessionRow } from '../port.ts'
import type { Connection } from './connection.ts'

const SECRET_BYTES = 32

const KEYS = `
  SELECT key_id AS keyId, consumer, name, secret_hash AS secretHash, scopes, created_at_ms AS createdAtMs,
    expires_at_ms AS expiresAtMs, revoked_at_ms AS revokedAtMs
  FROM api_key`

type StoredKey = Omit<KeyRow, 'scopes'> & { readonly scopes: string }

export function accessStore(connection: Connection): AccessStore {
  return {
    ...keyStore(connection),
    ...sessionStore(connection),
    ...auditStore(connection),
    ...secretStore(connection),
  }
}

function keyStore(
  connection: Connection,
): Pick<AccessStore, 'insertKey' | 'readKey' | 'readSecretHash' | 'listKeys' | 'revokeKey'> {
  const insertConsumer = connection.prepare(
    'INSERT INTO consumer (consumer, created_at_ms) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )
  const insert = connection.prepare(`
    INSERT INTO api_key
      (key_id, consumer, name, secret_hash, scopes, created_at_ms, expires_at_ms, revoked_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
  const one = connection.prepare(`${KEYS} WHERE key_id = ?`)
  const hashOf = connection.prepare(
    `SELECT coalesce((SELECT secret_hash FROM api_key WHERE key_id = ?), x'${'00'.repeat(32)}') AS hash`,
  )
  const all = connection.prepare(`${KEYS} ORDER BY created_at_ms, key_id`)
  const revoke = connection.prepare(
    'UPDATE api_key SET revoked_at_ms = ? WHERE key_id = ? AND revoked_at_ms IS NULL',
  )
  const endSessions = connection.prepare('DELETE FROM session WHERE key_id = ?')

  return {
    async insertKey({ keyId, consumer, name, secretHash, scopes, createdAtMs, expiresAtMs, revokedAtMs }) {
      await connection.write(() => {
        insertConsumer.run(consumer, createdAtMs)
        const scopesText = JSON.stringify(scopes)
        insert.run(keyId, consumer, name, secretHash, scopesText, createdAtMs, expiresAtMs, revokedAtMs)
      })
    },
    async readKey(keyId) {
      const row = connection.query(() => one.get(keyId)) as StoredKey | undefined
      return row === undefined ? null : keyRow(row)
    },
    async readSecretHash(keyId) {
      return (connection.query(() => hashOf.get(keyId)) as { hash: Uint8Array }).hash
    },
    async listKeys() {
      return (connection.query(() => all.all()) as unknown as StoredKey[]).map(keyRow)
    },
    async revokeKey(keyId, atMs) {
      return connection.write(() => {
        // A session ends with its key.
        endSessions.run(keyId)
        return revoke.run(atMs, keyId).changes === 1
      })
    },
  }
}

const keyRow = (row: StoredKey): KeyRow => ({ ...row, scopes: JSON.parse(row.scopes) as string[] })

function sessionStore(
  connection: Connection,
): Pick<
  AccessStore,
  'insertSession' | 'readSession' | 'touchSession' | 'deleteSession' | 'countSessions' | 'retireSession'
> {
  const deleteExpired = connection.prepare('DELETE FROM session WHERE expires_at_ms <= ?')
  const insert = connection.prepare(`
    INSERT INTO session (id_hash, key_id, created_at_ms, expires_at_ms, last_used_at_ms)
    VALUES (?, ?, ?, ?, ?)`)
  const one = connection.prepare(`
    SELECT id_hash AS idHash, key_id AS keyId, created_at_ms AS createdAtMs, expires_at_ms AS expiresAtMs,
      last_used_at_ms AS lastUsedAtMs
    FROM session WHERE id_hash = ?`)
  const touch = connection.prepare(
    'UPDATE session SET last_used_at_ms = ? WHERE id_hash = ? AND last_used_at_ms < ?',
  )
  const remove = connection.prepare('DELETE FROM session WHERE id_hash = ?')
  const retire = connection.prepare(`
    DELETE FROM session WHERE id_hash = (
      SELECT id_hash FROM api_key JOIN session USING (key_id)
      WHERE consumer = ? ORDER BY last_used_at_ms, id_hash LIMIT 1)`)
  const count = connection.prepare(`
    SELECT count(*) AS sessions FROM api_key JOIN session USING (key_id)
    WHERE consumer = ? AND session.expires_at_ms > ?`)

  return {
    async insertSession({ idHash, keyId, createdAtMs, expiresAtMs, lastUsedAtMs }) {
      await connection.write(() => {
        // Keeps the table as small as the number of usable sessions.
        deleteExpired.run(createdAtMs)
        insert.run(idHash, keyId, createdAtMs, expiresAtMs, lastUsedAtMs)
      })
    },
    async readSession(idHash) {
      return (connection.query(() => one.get(idHash)) as SessionRow | undefined) ?? null
    },
    async touchSession(idHash, atMs) {
      await connection.write(() => touch.run(atMs, idHash, atMs))
    },
    async deleteSession(idHash) {
      return connection.write(() => remove.run(idHash).changes === 1)
    },
    async countSessions(consumer, atMs) {
      return (connection.query(() => count.get(consumer, atMs)) as { sessions: number }).sessions
    },
    async retireSession(consumer) {
      await connection.write(() => retire.run(consumer))
    },
  }
}

function auditStore(connection: Connection): Pick<AccessStore, 'audit'> {
  const insert = connection.prepare(
    'INSERT INTO audit (at_ms, actor, action, subject, detail) VALUES (?, ?, ?, ?, ?)',
  )
  return {
    async audit({ atMs, actor, action, subject, detail }) {
      await connection.write(() => insert.run(atMs, actor, action, subject, detail))
    },
  }
}

function secretStore(connection: Connection): Pick<AccessStore, 'readSecret'> {
  const read = connection.prepare('SELECT value FROM meta WHERE name = ?')
  const insert = connection.prepare('INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const stored = (name: string) => (read.get(`secret/${name}`) as { value: Uint8Array } | undefined)?.value
  return {
    async readSecret(name) {
      const known = connection.query(() => stored(name))
      if (known !== undefined) return known
      // Two threads may request it first: both use the one that is written first.
      return connection.write(() => {
        insert.run(`secret/${name}`, randomBytes(SECRET_BYTES))
        return stored(name) as Uint8Array
      })
    },
  }
}
