/**
 * S1 and S6: processes killed in the middle of their commits. Commits acknowledged as durable are there, once,
 * without a gap, and the state is the fold of the log. `npm run test:crash` is the long form; it reports its progress.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestDatabase } from './testing/connect.ts'
import { checkHistory, dieAt, killAfter, runCommitter } from './testing/crashing.ts'
import { COMMIT_POINTS, MIGRATION_POINTS, PRUNE_POINTS, REORG_POINTS } from './testing/failPoints.ts'
import { generator } from './testing/generator.ts'
import { progressOf } from './testing/progress.ts'
import { scriptedCommit } from './testing/script.ts'
import { seedOfRun } from '../../world/seed.ts'
import { bothStores } from './testing/bothStores.ts'

const isLong = process.env['ASSAY_CRASH'] === 'long'
const SEED = seedOfRun()
const RANDOM_KILLS = isLong ? { sqlite: 1_000, postgres: 100 } : { sqlite: 8, postgres: 4 }
const KILLS_PER_POINT = isLong ? 20 : 1
const LIMIT_MS = isLong ? 14_400_000 : 900_000

/** A history is checked from its beginning after each kill: past this many a new one keeps that short. */
const KILLS_PER_HISTORY = 40

const kinds = bothStores()

describe.each(['sqlite', 'postgres'] as const)('%s', kind => {
  let database: TestDatabase
  let committed: number
  const begin = async () => {
    database = await kinds[kind]()
    committed = 0
  }
  beforeEach(begin)
  afterEach(() => database.dispose())

  const progress = (what: string, total: number) =>
    isLong ? progressOf(`${kind}, ${what}`, total) : () => undefined
  const options = () => ({ address: database.address, chainId: 1, steps: 1_000_000 })

  async function check(acknowledged: Awaited<ReturnType<typeof dieAt>>, context: string): Promise<void> {
    const store = await database.connect()
    await store.readBounds()
    committed = await checkHistory(store, committed, acknowledged, `seed ${SEED}, ${context}`)
    await database.leave()
  }

  test(`S1: nothing acknowledged is lost, duplicated or torn over ${RANDOM_KILLS[kind]} kills at random points`, {
    timeout: LIMIT_MS,
  }, async () => {
    const next = generator(SEED)
    const tell = progress(`kills at random points, seed ${SEED}`, RANDOM_KILLS[kind])
    for (let kill = 0; kill < RANDOM_KILLS[kind]; kill++) {
      if (kill % KILLS_PER_HISTORY === KILLS_PER_HISTORY - 1) {
        await database.dispose()
        await begin()
      }
      // The kill falls wherever the process is when the line arrives, which is never twice the same.
      await check(await killAfter(options(), 1 + (next() % 29)), `kill ${kill}`)
      tell(kill + 1)
    }
  })

  const points = { ...COMMIT_POINTS, ...REORG_POINTS }
  test(`S1, R11: ${KILLS_PER_POINT} kills at each step of a commit and of a reorganisation`, {
    timeout: LIMIT_MS,
  }, async () => {
    const next = generator(SEED)
    const tell = progress('kills at a step of a commit', Object.keys(points).length * KILLS_PER_POINT)
    let kills = 0
    for (const [name, point] of Object.entries(points)) {
      await database.dispose()
      await begin()
      for (let kill = 0; kill < KILLS_PER_POINT; kill++) {
        const nth = 1 + (next() % 3)
        await check(await dieAt(options(), { ...point, nth }), `${name}, ${kill}`)
        tell(++kills)
      }
    }
  })

  test(`S1: ${KILLS_PER_POINT} kills in the middle of publishing`, { timeout: LIMIT_MS }, async () => {
    for (let kill = 0; kill < KILLS_PER_POINT; kill++) {
      const acknowledged = await dieAt({ ...options(), dieAtStep: committed + 3 }, null)
      expect(acknowledged).toHaveLength(2)
      await check(acknowledged, `mid-publish ${kill}`)
    }
  })

  test(`S1: ${KILLS_PER_POINT} kills at each step of pruning`, { timeout: LIMIT_MS }, async () => {
    for (const [name, point] of Object.entries(PRUNE_POINTS))
      for (let kill = 0; kill < KILLS_PER_POINT; kill++)
        await check(await dieAt({ ...options(), prune: { records: 5, batch: 2 } }, point), `${name}, ${kill}`)
  })

  test(`S1, S12: ${KILLS_PER_POINT} kills at each step of a migration`, { timeout: LIMIT_MS }, async () => {
    for (let kill = 0; kill < KILLS_PER_POINT; kill++) {
      await database.dispose()
      await begin()
      for (const [name, point] of Object.entries(MIGRATION_POINTS))
        expect(await dieAt(options(), point), name).toEqual([])
      // The next start completes it, and has a database like any other.
      await check(await killAfter(options(), 3), `mid-migration ${kill}`)
    }
  })

  test('S6: a second process is refused while this one has the database, and served afterwards', async () => {
    const store = await database.connect()
    await store.commit(scriptedCommit(1, 1))
    const once = { ...options(), steps: 1 }
    const refused = await runCommitter(once)
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toMatch(new RegExp(`STORE_CLAIMED|Process ${process.pid} is using`))
    expect((await store.readCheckpoint(1))?.step).toBe(1)
    await database.leave()
    expect(await runCommitter(once)).toMatchObject({ code: 0 })
    const again = await database.connect()
    expect((await again.readCheckpoint(1))?.step).toBe(2)
  })
})
