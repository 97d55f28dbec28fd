/** How long a key is remembered once it has been shown, over a real database. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Clock } from '../ops/clock.ts'
import { claimStore, openStore } from '../store/openStore.ts'
import { Access } from './access.ts'

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
  access = new Access(
    {
      ...store,
      async readKey(id) {
        reads += 1
        const row = await store.readKey(id)
        await gate
        if (isDown) throw new Error('the database is away')
        return row
      },
    },
    clock,
  )
  const issued = await access.issue('test', 'consumer', ['read'], null)
  key = issued.key
  keyId = issued.keyId
  expect(await access.authenticate({ bearer: key, cookie: null })).toMatchObject({ keyId })
})

const settled = () => new Promise(resolve => setTimeout(resolve, 20))
/** `ms` later, with everything begun before it done. */
async function later(ms: number): Promise<void> {
  await settled()
  nowMs += ms
}
const recall = () => access.recall(`Bearer ${key}`, nowMs, clock.nowMs())

test('a key in use is read again in good time and is never asked for twice', async () => {
  for (let turn = 0; turn < 20; turn++) {
    expect(recall()).toMatchObject({ keyId })
    await later(500)
  }
  expect(reads).toBeGreaterThanOrEqual(8)
  expect(reads).toBeLessThanOrEqual(11)
})

test('a key nobody used for two seconds is not recalled', async () => {
  await later(1999)
  expect(recall()).not.toBeNull()
  await later(0)
  await later(2000)
  expect(recall()).toBeNull()
})

test('a key revoked elsewhere ends within the two seconds it is trusted, however often it is used', async () => {
  await store.revokeKey(keyId, clock.nowMs())
  const sinceMs = nowMs
  while (recall() !== null) {
    await later(100)
    expect(nowMs - sinceMs).toBeLessThanOrEqual(2000)
  }
  expect(await access.authenticate({ bearer: key, cookie: null })).toBeNull()
})

test('a key revoked here ends at once, also while a reading from before is under way', async () => {
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

test('a database that is away ends the trust when it would have ended without a renewal', async () => {
  isDown = true
  await later(1500)
  expect(recall()).not.toBeNull()
  await later(499)
  expect(recall()).not.toBeNull()
  await later(1)
  expect(recall()).toBeNull()
})

test('an open stream of the key reads it anew and nobody has to show it again', async () => {
  const principal = await access.authenticate({ bearer: key, cookie: null })
  if (principal === null) throw new Error('refused')
  await later(600)
  expect(await access.isValid(principal)).toBe(true)
  expect(reads).toBe(2)
  expect(recall()).toMatchObject({ keyId })
})
