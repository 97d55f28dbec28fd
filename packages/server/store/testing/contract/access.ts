/** Keys, sessions, secrets. */
import { expect, test } from 'vitest'
import type { KeyRow, SessionRow } from '../../port.ts'
import type { TestDatabase } from '../connect.ts'

const bytes = (...values: number[]) => new Uint8Array(values)

const keyOf = (keyId: string, consumer = 'acme'): KeyRow => ({
  keyId,
  consumer,
  name: 'laptop',
  secretHash: bytes(1, 2, 3, 255),
  scopes: ['read', 'stream'],
  createdAtMs: 1_000,
  expiresAtMs: null,
  revokedAtMs: null,
})

const sessionOf = (id: number, keyId: string, expiresAtMs = 9_000): SessionRow => ({
  idHash: bytes(id, 0, 255),
  keyId,
  createdAtMs: 2_000,
  expiresAtMs,
  lastUsedAtMs: 2_000,
})

export function accessContract(database: () => TestDatabase): void {
  test('a key is read back as issued, and revoked once', async () => {
    const store = await database().connect()
    const [one, two] = [keyOf('one'), { ...keyOf('two'), createdAtMs: 2_000, expiresAtMs: 5_000, scopes: [] }]
    await store.insertKey(two)
    await store.insertKey(one)
    expect(await store.readKey('one')).toEqual(one)
    expect(await store.readKey('three')).toBeNull()
    expect(Buffer.compare(await store.readSecretHash('one'), one.secretHash)).toBe(0)
    expect(Buffer.compare(await store.readSecretHash('three'), new Uint8Array(32))).toBe(0)
    expect(await store.listKeys()).toEqual([one, two])
    await expect(store.insertKey(one)).rejects.toMatchObject({ code: 'STORE_CONSTRAINT', retryable: false })
    expect(await store.revokeKey('one', 7_000)).toBe(true)
    expect(await store.revokeKey('one', 8_000)).toBe(false)
    expect(await store.revokeKey('three', 8_000)).toBe(false)
    const again = await database().connect()
    expect(await again.readKey('one')).toEqual({ ...one, revokedAtMs: 7_000 })
  })

  test('a session lives until it is deleted, expires or its key is revoked', async () => {
    const store = await database().connect()
    await store.insertKey(keyOf('one'))
    await store.insertKey(keyOf('two'))
    await store.insertKey(keyOf('foreign', 'other'))
    const session = sessionOf(1, 'one')
    await store.insertSession(session)
    await store.insertSession(sessionOf(2, 'two', 3_000))
    await store.insertSession(sessionOf(3, 'foreign'))
    expect(await store.readSession(session.idHash)).toEqual(session)
    expect(await store.readSession(bytes(9))).toBeNull()
    expect(await store.countSessions('acme', 2_999)).toBe(2)
    expect(await store.countSessions('acme', 3_000)).toBe(1)
    expect(await store.countSessions('nobody', 0)).toBe(0)
    await store.touchSession(session.idHash, 4_000)
    await store.touchSession(session.idHash, 3_500)
    expect((await store.readSession(session.idHash))?.lastUsedAtMs).toBe(4_000)
    await store.revokeKey('one', 5_000)
    expect(await store.readSession(session.idHash)).toBeNull()
    expect(await store.deleteSession(bytes(3, 0, 255))).toBe(true)
    expect(await store.deleteSession(bytes(3, 0, 255))).toBe(false)
    await expect(store.insertSession(sessionOf(4, 'no such key'))).rejects.toMatchObject({
      code: 'STORE_CONSTRAINT',
    })
  })

  test('expired sessions are deleted when another is created', async () => {
    const store = await database().connect()
    await store.insertKey(keyOf('one'))
    await store.insertSession(sessionOf(1, 'one', 3_000))
    await store.insertSession({ ...sessionOf(2, 'one'), createdAtMs: 3_000 })
    expect(await store.readSession(bytes(1, 0, 255))).toBeNull()
    expect(await store.readSession(bytes(2, 0, 255))).not.toBeNull()
  })

  test('a secret is created once, by the first caller, and outlives the process', async () => {
    const [left, right] = [await database().connect(), await database().connect()]
    const [one, same, other] = await Promise.all([
      left.readSecret('cursor'),
      right.readSecret('cursor'),
      left.readSecret('page'),
    ])
    expect(one.length).toBe(32)
    expect(same).toEqual(one)
    expect(other).not.toEqual(one)
    await database().leave()
    expect(await (await database().connect()).readSecret('cursor')).toEqual(one)
  })

  test('an audit entry is accepted with and without detail', async () => {
    const store = await database().connect()
    const entry = { atMs: 1, actor: 'key one', action: 'policy.put', subject: 'policy' }
    await store.audit({ ...entry, detail: null })
    await store.audit({ ...entry, detail: '{"max_hops":2}' })
  })

  test('a closed store refuses, by name', async () => {
    const store = await database().connect()
    await store.close()
    await store.close()
    await expect(store.readBounds()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await expect(store.revokeKey('one', 1)).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })
}
