import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PoolRow } from '../../store/port.ts'
import { type FullStore, sqliteDatabase, type TestDatabase } from '../../store/testing/connect.ts'
import { address, commitOf, poolFacts } from '../../store/testing/drafts.ts'
import { momentsOf, presentAt, readingOfPool } from './poolReading.ts'

const MINUTE = 60_000
const pool = poolFacts('pool', address('token'), address('usd'))
const scored = (score: number) => ({ score })
const stored = {
  verified_at_ms: 10 * MINUTE,
  score: 8,
  reason: null,
  caps: [{ code: 'SINGLE_POOL', cap: 6 }],
  components: {
    depth: scored(9),
    freshness: { score: 10, age_ms: 0, ttl_ms: 60 * MINUTE },
    agreement: scored(8),
    temporal: scored(10),
    feed: { score: 10, status: 'HEALTHY' },
    state: scored(8),
  },
}

let database: TestDatabase
let store: FullStore
beforeAll(async () => {
  database = await sqliteDatabase()
  store = await database.connect()
  const entities = [
    { key: 'chain', text: JSON.stringify({ proven: [{ first: 5, last: 90, lastMs: 40 * MINUTE }] }) },
    {
      key: `pool/${pool.poolAddress}`,
      text: JSON.stringify({ state: { verifiedNumber: 50, verifiedMs: 10 * MINUTE } }),
    },
  ]
  await store.commit(commitOf(1, 1, { entities, pools: [pool] }))
})
afterAll(() => database.dispose())

const momentAt = async (nowMs: number) => {
  const row = (await store.readPool(1, pool.poolAddress)) as PoolRow
  const feeds = { health: () => ({ status: 'HEALTHY' }) } as never
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const [moment] = await momentsOf({ store, feeds, clock }, [row])
  return moment as NonNullable<typeof moment>
}

test('R-http-6: a pool is as fresh as the last proven block that leaves it unchanged, not as its last record', async () => {
  const moment = await momentAt(41 * MINUTE)
  expect(moment.verifiedMs).toBe(40 * MINUTE)
  expect(presentAt(stored, moment)).toMatchObject({
    verified_at_ms: 40 * MINUTE,
    score: 6,
    reason: null,
    components: {
      freshness: { score: 10, age_ms: MINUTE, ttl_ms: 60 * MINUTE },
      feed: { status: 'HEALTHY' },
    },
  })
})

test.each([
  [70 * MINUTE, { score: 6, reason: null }],
  [88 * MINUTE, { score: 5, reason: null, freshness: { score: 5, age_ms: 48 * MINUTE + 1 } }],
  [100 * MINUTE, { score: 0, reason: 'EXPIRED' }],
])('at %i its score is that of its age by then', async (nowMs, expected) => {
  const late = 'freshness' in expected ? 1 : 0
  expect(readingOfPool(stored, await momentAt(nowMs + late))).toMatchObject(expected)
})

test.each([
  ['DEGRADED', { score: 3, reason: null, feed: { score: 3, status: 'DEGRADED' } }],
  ['GAP', { score: 0, reason: 'FEED', feed: { score: 0, status: 'GAP' } }],
] as const)('a feed that is %s now lowers its score, whatever its record says', (status, expected) => {
  expect(readingOfPool(stored, { nowMs: 11 * MINUTE, status, verifiedMs: null })).toMatchObject(expected)
})

test('a feed that has recovered restores the score', () => {
  const gone = { ...stored, score: 0, reason: 'FEED' }
  expect(readingOfPool(gone, { nowMs: 11 * MINUTE, status: 'HEALTHY', verifiedMs: null })).toMatchObject({
    score: 6,
    reason: null,
  })
})

test('a rule that the pool itself fails stays', () => {
  const shallow = { ...stored, score: 0, reason: 'BELOW_MIN_DEPTH' }
  expect(readingOfPool(shallow, { nowMs: 11 * MINUTE, status: 'HEALTHY', verifiedMs: null })).toMatchObject({
    score: 0,
    reason: 'BELOW_MIN_DEPTH',
  })
})
