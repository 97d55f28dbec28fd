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
  streamed = []
})
afterEach(() => database.dispose())

let streamed: { readonly chainId: number; readonly tokenAddress: string }[]

const interestIn = (store: Awaited<ReturnType<TestDatabase['connect']>>) =>
  new Interest({ store, log, clock: { nowMs: () => 7 }, streamed: () => streamed })

test('requests for tokens are written when it stops', async () => {
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
  const interest = interestIn(store)
  interest.note(`1/${token}`, 5)
  expect(await store.readIdle(1, 5)).toEqual([token])
  await interest.close()
  expect(await store.readIdle(1, 5)).toEqual([])
  expect(warnings).toEqual([])
})

test('a token that a stream names counts as requested as long as the stream is open', async () => {
  const store = await database.connect()
  await store.insertKey(key('acme'))
  const claim = { chainId: 1, consumer: 'acme', atMs: 1, sinceMs: 0, most: 2 }
  const other = address('other')
  await store.claimEnrolments([
    { ...claim, tokenAddress: token },
    { ...claim, tokenAddress: other },
  ])
  const interest = interestIn(store)
  streamed = [{ chainId: 1, tokenAddress: token }]
  await interest.write()
  expect(await store.readIdle(1, 7)).toEqual([other])
  streamed = []
  await interest.write()
  expect(await store.readIdle(1, 8)).toEqual([other, token])
  await interest.close()
})

test('it stops with a warning when the store has closed before it', async () => {
  const store = await database.connect()
  const interest = interestIn(store)
  interest.note(`1/${token}`, 5)
  await database.leave()
  await interest.close()
  expect(warnings).toEqual(['the requested tokens could not be stored'])
})
