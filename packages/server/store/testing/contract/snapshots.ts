/** Reads: each from one commit, pages complete, events with their finality. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import type { PoolRow, RecordDraft } from '../../port.ts'
import type { CommitterOptions } from '../committer.ts'
import type { FullStore, TestDatabase } from '../connect.ts'
import {
  address,
  commitOf,
  eventOf,
  health,
  poolFacts,
  poolUpsert,
  tipAt,
  tokenFacts,
  tokenUpsert,
} from '../drafts.ts'
import { foldLog, keyOf } from '../logFold.ts'
import { wholeLog, wholeSnapshot } from '../wholeLog.ts'

const USD = address('usd')
const TOKEN = address('token')
const POOL = poolFacts('pool', TOKEN, USD)

export function snapshotContract(database: () => TestDatabase): void {
  test('a snapshot page is the fold of the log up to its sequence, while another thread commits', async () => {
    const store = await database().connect()
    const steps = 40
    const options: CommitterOptions = { address: database().address, chainId: 1, steps }
    const thread = new Worker(new URL('../committer.ts', import.meta.url), {
      workerData: options,
      execArgv: [],
    })
    const ended = once(thread, 'exit')
    const reads: ReturnType<FullStore['readPools']>[] = []
    thread.on('message', () => {
      reads.push(store.readPools({ chainId: 1, tokenAddress: null, after: null, limit: 100 }))
    })
    expect(await ended).toEqual([0])
    const pages = await Promise.all(reads)
    expect(pages.length).toBe(steps)
    const log = await wholeLog(store)
    for (const { pools, snapshotSequence } of pages) {
      const folded = foldLog(log.slice(0, snapshotSequence))
      expect(pools.map(shownOf)).toEqual(
        pools.map(({ poolAddress, token0, token1 }) => {
          const pool = folded.pools.get(keyOf(1, poolAddress))
          return {
            sequence: pool?.sequence ?? null,
            state: pool?.state ?? null,
            token0: folded.tokens.get(keyOf(1, token0))?.state ?? null,
            token1: folded.tokens.get(keyOf(1, token1))?.state ?? null,
          }
        }),
      )
    }
  })

  test('pages list every pool once, in order, while pools are added and priced', async () => {
    const [reader, writer] = [await database().connect(), await database().connect()]
    const old = Array.from({ length: 40 }, (_, at) => poolFacts(0x1000 + at * 16, TOKEN, USD))
    await writer.commit(commitOf(1, 1, { pools: old.slice(0, 25) }))
    await writer.commit(commitOf(56, 1, { pools: old }))
    let turn = 1
    const between = async () => {
      turn++
      const pool = old[(turn * 7) % 25] as typeof POOL
      await writer.commit(
        commitOf(1, turn, {
          pools: [poolFacts(0x1000 + turn * 16 + 8, TOKEN, USD)],
          records: [poolUpsert({ chainId: 1, recordId: `1-${turn}-0` }, pool, turn)],
        }),
      )
    }
    const rows = await wholeSnapshot(reader, 6, undefined, between)
    const keys = rows.map(row => `${row.chainId.toString().padStart(4)} ${row.poolAddress}`)
    expect(keys).toEqual([...new Set(keys)].sort())
    const seen = new Set(rows.map(row => keyOf(row.chainId, row.poolAddress)))
    for (const { poolAddress } of old.slice(0, 25)) expect(seen).toContain(keyOf(1, poolAddress))
    for (const { poolAddress } of old) expect(seen).toContain(keyOf(56, poolAddress))
    const ofChain = await wholeSnapshot(reader, 6, { chainId: 56, tokenAddress: null })
    expect(ofChain.map(({ poolAddress }) => poolAddress)).toEqual(old.map(({ poolAddress }) => poolAddress))
  })

  test('pages of one and two pools list every pool once, those that a manager holds by their ids', async () => {
    const store = await database().connect()
    // An id may begin with the digits of an address, and ids of one manager have nothing in common.
    const held = [7, 1, 4].map(at => ({ ...POOL, poolAddress: `${address(0x100 + at)}${'0a'.repeat(12)}` }))
    const ids = ['f', '0', '8'].map(digit => ({ ...POOL, poolAddress: `0x${digit.repeat(64)}` }))
    const own = [1, 4, 5, 7].map(at => poolFacts(0x100 + at, TOKEN, USD))
    const pools = [...held, ...ids, ...own]
    await store.commit(commitOf(1, 1, { pools }))
    await store.commit(commitOf(56, 1, { pools }))
    const wanted = pools.map(({ poolAddress }) => poolAddress).sort()
    for (const limit of [1, 2, 3])
      for (const tokenAddress of [null, TOKEN])
        for (const chainId of [1, null]) {
          const rows = await wholeSnapshot(store, limit, { chainId, tokenAddress })
          const expected = (chainId === null ? [1, 56] : [chainId]).flatMap(each =>
            wanted.map(pool => keyOf(each, pool)),
          )
          expect(rows.map(row => keyOf(row.chainId, row.poolAddress))).toEqual(expected)
        }
  })

  test('the depth of a token is that of all its pools together, and null without any that is known', async () => {
    const store = await database().connect()
    const [a, b, lonely] = [address(1), address(2), address(3)]
    const pools = [poolFacts(0x100, a, b), poolFacts(0x101, b, a), poolFacts(0x102, lonely, b)]
    const deep = (at: number, microusd: string | null): RecordDraft => {
      const draft = poolUpsert({ chainId: 1, recordId: `1-1-${at}` }, pools[at] as typeof POOL, at)
      const depth = microusd === null ? null : { effective_microusd: microusd }
      return { ...draft, payload: { ...draft.payload, depth } }
    }
    await store.commit(
      commitOf(1, 1, { pools, records: [deep(0, '7000000'), deep(1, '500'), deep(2, null)] }),
    )
    expect(await store.readDepths(1, [lonely, a, address(9), b])).toEqual([null, '7000500', null, '7000500'])
    expect(await store.readDepths(2, [a])).toEqual([null])
  })

  test('pools of a token are those with it on either side', async () => {
    const store = await database().connect()
    const [a, b, c] = [address(1), address(2), address(3)]
    const pools = Array.from({ length: 30 }, (_, at) => {
      const sides = [
        [a, b],
        [b, c],
        [a, c],
      ][at % 3] as [string, string]
      return poolFacts(0x100 + ((at * 7) % 30), ...sides)
    })
    await store.commit(commitOf(1, 1, { pools }))
    await store.commit(commitOf(2, 1, { pools }))
    for (const token of [a, b, c, TOKEN])
      for (const chainId of [1, 2, null]) {
        const rows = await wholeSnapshot(store, 4, { chainId, tokenAddress: token })
        const expected = (chainId === null ? [1, 2] : [chainId]).flatMap(chain =>
          pools
            .filter(({ token0, token1 }) => token0 === token || token1 === token)
            .map(({ poolAddress }) => keyOf(chain, poolAddress))
            .sort(),
        )
        expect(rows.map(row => keyOf(row.chainId, row.poolAddress))).toEqual(expected)
      }
  })

  test('a removed pool leaves the snapshot, and one that returns in the same step stays', async () => {
    const store = await database().connect()
    const other = poolFacts('other', TOKEN, USD)
    await store.commit(commitOf(1, 1, { pools: [POOL, other], records: [poolUpsert(id('1-1-0'), POOL, 1)] }))
    await store.commit(
      commitOf(1, 2, {
        removedPools: [POOL.poolAddress, other.poolAddress],
        pools: [{ ...other, createdBlock: 9 }],
        records: [poolUpsert(id('1-2-0'), other, 2)],
      }),
    )
    expect(await store.readPool(1, POOL.poolAddress)).toBeNull()
    expect(await store.readPool(1, other.poolAddress)).toMatchObject({ createdBlock: 9, sequence: 2 })
    await store.commit(commitOf(1, 3, { pools: [POOL] }))
    expect(await store.readPool(1, POOL.poolAddress)).toEqual({
      ...POOL,
      chainId: 1,
      state: null,
      sequence: null,
      prices: { token0: null, token1: null },
    })
  })

  test('events are canonical, then final; orphaned with their block, and canonical when it returns', async () => {
    const store = await database().connect()
    const finalities = async () => {
      const rows = await store.readEvents({ ...everything, limit: 100 })
      return rows.map(row => `${row.blockNumber - 1_000}:${row.logIndex} ${row.finality}`)
    }
    for (const step of [1, 2, 3]) await store.commit(commitOf(1, step, { events: twoEvents(step) }))
    await store.commit(commitOf(2, 1, { events: twoEvents(1), orphanedBlocks: [tipAt(3).hash] }))
    await store.commit(commitOf(1, 4, { finalizedNumber: tipAt(1).number, orphanedBlocks: [tipAt(3).hash] }))
    expect(await finalities()).toEqual([
      '3:7 orphaned',
      '3:0 orphaned',
      '2:7 canonical',
      '2:0 canonical',
      '1:7 finalized',
      '1:0 finalized',
    ])
    await store.commit(
      commitOf(1, 5, {
        orphanedBlocks: [tipAt(2).hash, tipAt(3).hash],
        events: [...twoEvents(3), ...twoEvents(1)],
      }),
    )
    expect((await finalities()).slice(-2)).toEqual(['1:7 finalized', '1:0 finalized'])
    await store.commit(commitOf(1, 6, { finalizedNumber: tipAt(2).number }))
    expect(await finalities()).toEqual([
      '3:7 canonical',
      '3:0 canonical',
      '2:7 orphaned',
      '2:0 orphaned',
      '1:7 finalized',
      '1:0 finalized',
    ])
    const [other] = await store.readEvents({ ...everything, chainId: 2, limit: 1 })
    expect(other).toEqual({ ...twoEvents(1)[1], chainId: 2, finality: 'canonical' })
  })

  test('events are paged from the newest, filtered by kind and block', async () => {
    const store = await database().connect()
    for (let step = 1; step <= 6; step++) {
      const events = [0, 1, 2].map(at => eventOf(POOL.poolAddress, step, at, at === 1 ? 'MINT' : 'SWAP'))
      // The same place on another branch: only the hash tells them apart.
      const branch = events.map(event => ({ ...event, blockHash: tipAt(step + 100).hash }))
      const elsewhere = { ...eventOf(address('elsewhere'), step, 9) }
      await store.commit(commitOf(1, step, { events: [...events, ...branch, elsewhere] }))
    }
    const all = await store.readEvents({ ...everything, limit: 100 })
    expect(all.length).toBe(36)
    const paged: (typeof all)[number][] = []
    for (;;) {
      const page = await store.readEvents({ ...everything, before: paged.at(-1) ?? null, limit: 5 })
      if (page.length === 0) break
      paged.push(...page)
    }
    expect(paged).toEqual(all)
    const place = all.map(row => [row.blockNumber, row.logIndex, row.blockHash] as const)
    expect(place).toEqual(place.toSorted((x, y) => y[0] - x[0] || y[1] - x[1] || (y[2] > x[2] ? 1 : -1)))
    const some = await store.readEvents({
      ...everything,
      kind: 'MINT',
      fromBlock: 1_002,
      toBlock: 1_004,
      limit: 100,
    })
    expect(some).toEqual(
      all.filter(row => row.kind === 'MINT' && row.blockNumber >= 1_002 && row.blockNumber <= 1_004),
    )
  })

  test('retention deletes the oldest events, whatever their finality', async () => {
    const store = await database().connect()
    for (let step = 1; step <= 9; step++)
      await store.commit(
        commitOf(1, step, { atMs: step * 3_600_000, events: [eventOf(POOL.poolAddress, step, 0)] }),
      )
    const limits = { nowMs: 9 * 3_600_000, hours: 3, records: 2, batch: 2 }
    expect(await store.prune(limits)).toEqual({ records: 0, events: 6, inputs: 0 })
    const left = await store.readEvents({ ...everything, limit: 100 })
    expect(left.map(({ blockNumber }) => blockNumber)).toEqual([1_009, 1_008, 1_007])
    expect(await store.prune({ ...limits, hours: 0 })).toMatchObject({ events: 1 })
  })

  test('tokens are listed by address, and search finds an address on every chain', async () => {
    const store = await database().connect()
    // Symbols are whatever a contract says.
    const tokens = [5, 3, 9, 1].map(name => tokenFacts(address(name), named(`T${name}`)))
    const asPool = { ...POOL, poolAddress: address(3) }
    await store.commit(
      commitOf(1, 1, { tokens, records: [tokenUpsert({ chainId: 1, recordId: '1-1-0' }, address(3), '3')] }),
    )
    await store.commit(commitOf(56, 1, { tokens: tokens.slice(1, 2), pools: [asPool] }))
    const first = await store.readTokens({ chainId: 1, after: null, limit: 3 })
    expect(first.map(({ symbol }) => symbol)).toEqual(['T1', 'T3', 'T5'].map(named))
    expect(first[1]).toMatchObject({ chainId: 1, ...tokens[1], sequence: 1 })
    expect(first[0]).toEqual({ chainId: 1, ...tokens[3], price: null, sequence: null })
    const rest = await store.readTokens({ chainId: 1, after: first.at(-1)?.tokenAddress ?? null, limit: 3 })
    expect(rest.map(({ symbol }) => symbol)).toEqual([named('T9')])
    const found = await store.search(address(3))
    expect(found.tokens.map(({ chainId }) => chainId)).toEqual([1, 56])
    expect(found.pools.map(({ chainId }) => chainId)).toEqual([56])
    expect(await store.search(address('nobody'))).toEqual({ tokens: [], pools: [] })
    await store.commit(
      commitOf(1, 2, { tokens: [{ ...(tokens[0] as (typeof tokens)[0]), enrolledAtMs: null }] }),
    )
    expect(await store.readToken(1, address(5))).toMatchObject({ enrolledAtMs: null, symbol: named('T5') })
  })

  test('the health of a chain is its last record', async () => {
    const store = await database().connect()
    expect(await store.readHealth(1)).toBeNull()
    const [bad, good] = [health(1, 'GAP'), health(1, 'HEALTHY')]
    await store.commit(commitOf(1, 1, { records: [bad, good] }))
    await store.commit(commitOf(2, 1, { records: [health(2, 'DEGRADED')] }))
    expect(JSON.parse((await store.readHealth(1)) as string)).toEqual(good.payload)
  })
}

const everything = {
  chainId: 1,
  poolAddress: POOL.poolAddress,
  kind: null,
  fromBlock: null,
  toBlock: null,
  before: null,
}

const id = (recordId: string) => ({ chainId: 1, recordId })

const named = (symbol: string) => `${symbol}\u0000'\u{1f600}`

const twoEvents = (step: number) => [0, 7].map(logIndex => eventOf(POOL.poolAddress, step, logIndex))

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text))

const shownOf = ({ sequence, state, prices }: PoolRow) => ({
  sequence,
  state: parsed(state),
  token0: parsed(prices.token0),
  token1: parsed(prices.token1),
})
