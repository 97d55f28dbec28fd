/** How long a key is remembered once it has been shown, over a real database. */
import crypto from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { Clock } from '../ops/clock.ts'
import { claimStore, openStore } from '../store/openStore.ts'
import { Access } from './access.ts'
import { checksum, issueKey } from './apiKey.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-access-'))
const address = `sqlite:${join(folder, 'access.db')}`
let release: () => Promise<void>
let store: Awaited<ReturnType<typeof openStore>>
let nowMs = 0
const clock: Clock = { nowMs: () => 1_800_000_000_000 + nowMs, monotonicMs: () => nowMs }

let reads: number
/** What a reading of a key waits for. */
let gate: Promise<void>
let isDown: boolean
/** Readings of the store that are under way. */
let underWay: number
let access: Access
let key: string
let keyId: string

beforeAll(async () => {
  release = await claimStore(address)
  store = await openStore(address)
})
afterAll(async () => {
  await store.close()
  await release()
  rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  reads = 0
  gate = Promise.resolve()
  isDown = false
  underWay = 0
  access = new Access(
    {
      ...store,
      async readKey(id) {
        reads += 1
        const row = await counted(store.readKey(id))
        await gate
        if (isDown) throw new Error('the database is away')
        return row
      },
      readConsumer: consumer => counted(store.readConsumer(consumer)),
    },
    clock,
  )
  const issued = await access.issue('test', 'consumer', ['read'], null)
  key = issued.key
  keyId = issued.keyId
  expect(await access.authenticate({ bearer: key, cookie: null })).toMatchObject({ keyId })
})

async function counted<Value>(reading: Promise<Value>): Promise<Value> {
  underWay += 1
  return reading.finally(() => {
    underWay -= 1
  })
}
/** Everything begun is done, but for what waits at the gate. */
async function settled(): Promise<void> {
  do await new Promise(resolve => setImmediate(resolve))
  while (underWay > 0)
  // What follows on the last reading.
  await new Promise(resolve => setImmediate(resolve))
  if (underWay > 0) await settled()
}
/** `ms` later, with everything begun before it done. */
async function later(ms: number): Promise<void> {
  await settled()
  nowMs += ms
}
const recall = () => access.recall(`Bearer ${key}`, nowMs, clock.nowMs())

test('a key in use is read again before its trust ends and never requested twice', async () => {
  for (let turn = 0; turn < 20; turn++) {
    expect(recall()).toMatchObject({ keyId })
    await later(500)
  }
  expect(reads).toBeGreaterThanOrEqual(8)
  expect(reads).toBeLessThanOrEqual(11)
})

test('a key unused for two seconds is not cached', async () => {
  await later(1999)
  expect(recall()).not.toBeNull()
  await later(0)
  await later(2000)
  expect(recall()).toBeNull()
})

test('a key revoked elsewhere ends within the two seconds it is cached, however often it is used', async () => {
  await store.revokeKey(keyId, clock.nowMs())
  const sinceMs = nowMs
  while (recall() !== null) {
    await later(100)
    expect(nowMs - sinceMs).toBeLessThanOrEqual(2000)
  }
  expect(await access.authenticate({ bearer: key, cookie: null })).toBeNull()
})

test('a key revoked here ends at once, even while an older read is in progress', async () => {
  let open = () => {}
  gate = new Promise(resolve => {
    open = resolve
  })
  await later(1500)
  expect(recall()).not.toBeNull()
  await settled()
  const revoked = access.revoke(keyId)
  await revoked
  open()
  await settled()
  expect(recall()).toBeNull()
  expect(await access.authenticate({ bearer: key, cookie: null })).toBeNull()
})

test('an unreachable database ends the trust when it would have ended without a renewal', async () => {
  isDown = true
  await later(1500)
  expect(recall()).not.toBeNull()
  await later(499)
  expect(recall()).not.toBeNull()
  await later(1)
  expect(recall()).toBeNull()
})

test('an open stream renews its key without presenting it again', async () => {
  const principal = await access.authenticate({ bearer: key, cookie: null })
  if (principal === null) throw new Error('refused')
  await later(600)
  expect(await access.isValid(principal)).toBe(true)
  expect(reads).toBe(2)
  expect(recall()).toMatchObject({ keyId })
})

test('a refusal takes as much work for a known id as for an unknown one, even while the key itself is in use', async () => {
  // A right checksum under a known id needs the id's own letters: made by hand from another secret.
  const known = withSecretOf(key, issueKey().key)
  const unknown = issueKey().key
  const spies = [
    vi.spyOn(store, 'readSecretHash'),
    vi.spyOn(store, 'readKey'),
    vi.spyOn(crypto, 'hash'),
    vi.spyOn(crypto, 'timingSafeEqual'),
  ]
  syncBuiltinESMExports()
  onTestFinished(() => {
    for (const each of spies) each.mockRestore()
    syncBuiltinESMExports()
  })
  const plain = new Access(store, clock)
  const costOf = async (text: string) => {
    for (const each of spies) each.mockClear()
    expect(await plain.authenticate({ bearer: text, cookie: null })).toBeNull()
    return spies.map(each => each.mock.calls.length)
  }
  const [read, hashed, compared] = [1, 1, 2]
  for (const _ of ['unused', 'in use']) {
    for (const text of [known, unknown]) expect(await costOf(text)).toEqual([read, 0, hashed, compared])
    expect(await plain.authenticate({ bearer: key, cookie: null })).toMatchObject({ keyId })
  }
})

/** The id of one key with the secret of another, under a checksum that fits. */
function withSecretOf(own: string, other: string): string {
  const body = `${own.slice(0, 'assay_12345678_'.length)}${other.slice('assay_12345678_'.length, -6)}`
  return `${body}${checksum(body)}`
}
