/** Keys, sessions, the audit trail and the database's own secrets. Only hashes of credentials are kept. */
import { randomBytes } from 'node:crypto'
import type { AccessStore, KeyRow, SessionRow } from '../port.ts'
import { type Connection, statement } from './connection.ts'

const SECRET_BYTES = 32

const KEYS = `
  SELECT key_id AS "keyId", consumer, name, secret_hash AS "secretHash", scopes,
    created_at_ms AS "createdAtMs", expires_at_ms AS "expiresAtMs", revoked_at_ms AS "revokedAtMs"
  FROM api_key`
const INSERT_CONSUMER = statement(
  'INSERT INTO consumer (consumer, created_at_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING',
)
const INSERT_KEY = statement(`
  INSERT INTO api_key
    (key_id, consumer, name, secret_hash, scopes, created_at_ms, expires_at_ms, revoked_at_ms)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`)
const KEY = statement(`${KEYS} WHERE key_id = $1`)
const SECRET_HASH = statement(`
  SELECT coalesce((SELECT secret_hash FROM api_key WHERE key_id = $1), decode(repeat('00', 32), 'hex')) AS hash`)
const ALL_KEYS = statement(`${KEYS} ORDER BY created_at_ms, key_id`)
const REVOKE = statement(
  'UPDATE api_key SET revoked_at_ms = $1 WHERE key_id = $2 AND revoked_at_ms IS NULL RETURNING key_id',
)
const END_SESSIONS = statement('DELETE FROM session WHERE key_id = $1')

const DELETE_EXPIRED = statement('DELETE FROM session WHERE expires_at_ms <= $1')
const INSERT_SESSION = statement(`
  INSERT INTO session (id_hash, key_id, created_at_ms, expires_at_ms, last_used_at_ms)
  VALUES ($1, $2, $3, $4, $5)`)
const SESSION = statement(`
  SELECT id_hash AS "idHash", key_id AS "keyId", created_at_ms AS "createdAtMs",
    expires_at_ms AS "expiresAtMs", last_used_at_ms AS "lastUsedAtMs"
  FROM session WHERE id_hash = $1`)
const TOUCH = statement('UPDATE session SET last_used_at_ms = $1 WHERE id_hash = $2 AND last_used_at_ms < $1')
const DELETE_SESSION = statement('DELETE FROM session WHERE id_hash = $1 RETURNING key_id')
const RETIRE = statement(`
  DELETE FROM session WHERE id_hash = (
    SELECT id_hash FROM api_key JOIN session USING (key_id)
    WHERE consumer = $1 ORDER BY last_used_at_ms, id_hash LIMIT 1)`)
const COUNT = statement(`
  SELECT count(*) AS sessions FROM api_key JOIN session USING (key_id)
  WHERE consumer = $1 AND session.expires_at_ms > $2`)

const AUDIT = statement(
  'INSERT INTO audit (at_ms, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5)',
)
const SECRET = statement('SELECT value FROM meta WHERE name = $1')
const INSERT_SECRET = statement('INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING')

type StoredKey = Omit<KeyRow, 'scopes'> & { readonly scopes: string }

export const accessStore = (connection: Connection): AccessStore => ({
  ...keyStore(connection),
  ...sessionStore(connection),
  ...recordStore(connection),
})

function keyStore(
  connection: Connection,
): Pick<AccessStore, 'insertKey' | 'readKey' | 'readSecretHash' | 'listKeys' | 'revokeKey'> {
  return {
    async insertKey({ keyId, consumer, name, secretHash, scopes, createdAtMs, expiresAtMs, revokedAtMs }) {
      await connection.write(async query => {
        await query(INSERT_CONSUMER, [consumer, createdAtMs])
        const texts = [keyId, consumer, name, Buffer.from(secretHash), JSON.stringify(scopes)]
        await query(INSERT_KEY, [...texts, createdAtMs, expiresAtMs, revokedAtMs])
      })
    },
    async readKey(keyId) {
      const [row] = await connection.query<StoredKey>(KEY, [keyId])
      return row === undefined ? null : keyRow(row)
    },
    async readSecretHash(keyId) {
      const [row] = await connection.query<{ hash: Uint8Array }>(SECRET_HASH, [keyId])
      return (row as { hash: Uint8Array }).hash
    },
    async listKeys() {
      return (await connection.query<StoredKey>(ALL_KEYS)).map(keyRow)
    },
    revokeKey(keyId, atMs) {
      return connection.write(async query => {
        // A session ends with its key.
        await query(END_SESSIONS, [keyId])
        return (await query(REVOKE, [atMs, keyId])).length === 1
      })
    },
  }
}

const keyRow = (row: StoredKey): KeyRow => ({
  ...row,
  secretHash: new Uint8Array(row.secretHash),
  scopes: JSON.parse(row.scopes) as string[],
})

function sessionStore(
  connection: Connection,
): Pick<
  AccessStore,
  'insertSession' | 'readSession' | 'touchSession' | 'deleteSession' | 'countSessions' | 'retireSession'
> {
  return {
    async insertSession({ idHash, keyId, createdAtMs, expiresAtMs, lastUsedAtMs }) {
      await connection.write(async query => {
        // Keeps the table as small as the number of usable sessions.
        await query(DELETE_EXPIRED, [createdAtMs])
        await query(INSERT_SESSION, [Buffer.from(idHash), keyId, createdAtMs, expiresAtMs, lastUsedAtMs])
      })
    },
    async readSession(idHash) {
      const [row] = await connection.query<SessionRow>(SESSION, [Buffer.from(idHash)])
      return row === undefined ? null : { ...row, idHash: new Uint8Array(row.idHash) }
    },
    async touchSession(idHash, atMs) {
      await connection.query(TOUCH, [atMs, Buffer.from(idHash)])
    },
    async deleteSession(idHash) {
      return (await connection.query(DELETE_SESSION, [Buffer.from(idHash)])).length === 1
    },
    async countSessions(consumer, atMs) {
      const [row] = await connection.query<{ sessions: number }>(COUNT, [consumer, atMs])
      return row?.sessions ?? 0
    },
    async retireSession(consumer) {
      await connection.query(RETIRE, [consumer])
    },
  }
}

function recordStore(connection: Connection): Pick<AccessStore, 'audit' | 'readSecret'> {
  const stored = async (name: string) => {
    const [row] = await connection.query<{ value: Uint8Array }>(SECRET, [`secret/${name}`])
    return row === undefined ? null : new Uint8Array(row.value)
  }
  return {
    async audit({ atMs, actor, action, subject, detail }) {
      await connection.query(AUDIT, [atMs, actor, action, subject, detail])
    },
    async readSecret(name) {
      const known = await stored(name)
      if (known !== null) return known
      // Two processes may request it first: both use the one that is written first.
      await connection.query(INSERT_SECRET, [`secret/${name}`, randomBytes(SECRET_BYTES)])
      return (await stored(name)) as Uint8Array
    },
  }
}
