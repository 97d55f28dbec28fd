/** What is asked for reaches the store, and a store that is away keeps nobody from stopping. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { address, key } from '../../store/testing/drafts.ts'
import { sqliteDatabase, type TestDatabase } from '../../store/testing/connect.ts'
import { Interest } from './interest.ts'

const token = address('asked')
let database: TestDatabase
let warnings: string[]
const log = {
  info: () => undefined,
  warn: (message: string) => warnings.push(message),
  error: () => undefined,
}

beforeEach(async () => {
  database = await sqliteDatabase()
  warnings = []
})
afterEach(() => database.dispose())

test('what was asked for is written when it stops', async () => {
  const store = await database.connect()
  await store.insertKey(key('acme'))
  await store.claimEnrolments([
    {
      chainId: 1,
      tokenAddress: token,
      consumer: 'acme',
      atMs: 1,
      sinceMs: 0,
      most: 1,
    },
  ])
  const interest = new Interest(store, log)
  interest.note(`1/${token}`, 5)
  expect(await store.readIdle(1, 5)).toEqual([token])
  await interest.close()
  expect(await store.readIdle(1, 5)).toEqual([])
  expect(warnings).toEqual([])
})

test('it stops with a warning where the store has gone before it', async () => {
  const store = await database.connect()
  const interest = new Interest(store, log)
  interest.note(`1/${token}`, 5)
  await database.leave()
  await interest.close()
  expect(warnings).toEqual(['the requested tokens could not be stored'])
})
