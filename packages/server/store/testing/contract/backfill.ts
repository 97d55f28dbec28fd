/** Back-fill: its position and what it found move together, and events of old blocks stand among the others. */
import { expect, test } from 'vitest'
import type { TestDatabase } from '../connect.ts'
import { address, commitOf, eventOf, poolFacts } from '../drafts.ts'

const CHAIN = 7
const POOL = address('pool')
const OTHER = address('other pool')

const position = (nextBlock: number, events: number) => ({
  fromBlock: 10,
  toBlock: 99,
  nextBlock,
  events,
  startedAtMs: 1_000,
})

export function backfillContract(database: () => TestDatabase): void {
  test('a back-fill resumes from its last commit, for every chain separately', async () => {
    const store = await database().connect()
    expect(await store.readBackfill(CHAIN)).toBeNull()
    const commit = { chainId: CHAIN, atMs: 2_000, events: [], foundPools: [] }
    await store.writeBackfill({ ...commit, position: position(20, 0) })
    await store.writeBackfill({ ...commit, position: position(30, 5) })
    const other = await database().connect()
    expect(await other.readBackfill(CHAIN)).toEqual(position(30, 5))
    expect(await other.readBackfill(CHAIN + 1)).toBeNull()
  })

  test('its events are listed as final, once however often they arrive', async () => {
    const store = await database().connect()
    const events = [
      { ...eventOf(POOL, 1, 3), blockNumber: 12 },
      { ...eventOf(POOL, 2, 0), blockNumber: 15 },
    ]
    const commit = { chainId: CHAIN, atMs: 2_000, events, foundPools: [], position: position(20, 2) }
    await store.writeBackfill(commit)
    await store.writeBackfill(commit)
    const listed = await store.readEvents({
      chainId: CHAIN,
      poolAddress: POOL,
      kind: null,
      fromBlock: null,
      toBlock: null,
      before: null,
      limit: 10,
    })
    expect(listed.map(({ blockNumber, finality }) => [blockNumber, finality])).toEqual([
      [15, 'finalized'],
      [12, 'finalized'],
    ])
  })

  test('pools it found are listed until the chain knows them', async () => {
    const store = await database().connect()
    const known = poolFacts('pool', address('a'), address('b'))
    await store.writeBackfill({
      chainId: CHAIN,
      atMs: 2_000,
      events: [],
      foundPools: [known.poolAddress, OTHER, known.poolAddress],
      position: position(20, 0),
    })
    expect(await store.readFoundPools(CHAIN)).toEqual([known.poolAddress, OTHER].toSorted())
    await store.commit(commitOf(CHAIN, 1, { pools: [known] }))
    expect(await store.readFoundPools(CHAIN)).toEqual([OTHER])
    expect(await store.readFoundPools(CHAIN + 1)).toEqual([])
  })
}
