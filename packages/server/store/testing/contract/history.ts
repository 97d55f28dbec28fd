/** What was published about a token: found by time, block and sequence, in pages, and only while the log has it. */
import { expect, test } from 'vitest'
import { buildCandles } from '../../candleBuild.ts'
import type { HistoryPoint } from '../../history.ts'
import type { RecordDraft } from '../../port.ts'
import type { FullStore, TestDatabase } from '../connect.ts'
import { address, commitOf, hash, poolFacts, swap, tokenFacts, tokenRetract, tokenUpsert } from '../drafts.ts'

const TOKEN = address('token')
const OTHER = address('other')
const CHAIN = 7
const HOUR_MS = 3_600_000

type Moment = { readonly atMs: number; readonly block: number }

/** The same record said at another moment. */
function saidAt(draft: RecordDraft, { atMs, block }: Moment): RecordDraft {
  const move = (state: Readonly<Record<string, unknown>>) => ({
    ...state,
    evaluated_at_ms: atMs,
    as_of: { ...(state['as_of'] as object), block_number: block },
  })
  const { payload } = draft
  return draft.type === 'PRICE_RETRACT'
    ? { ...draft, payload: { ...payload, current: move(payload['current'] as Record<string, unknown>) } }
    : { ...draft, payload: move(payload) }
}

const priced = (step: number, display: string, moment: Moment, token = TOKEN): RecordDraft =>
  saidAt(tokenUpsert({ chainId: CHAIN, recordId: `${token}-${step}` }, token, display), moment)

/** One commit a step; each record a minute and a block after the one before. */
async function publish(store: FullStore, steps: number): Promise<void> {
  for (let step = 1; step <= steps; step++)
    await store.commit(
      commitOf(CHAIN, step, {
        tokens: [tokenFacts(TOKEN)],
        records: [
          priced(step, `${step}`, { atMs: step * 60_000, block: 100 + step }),
          priced(step, '1', { atMs: step * 60_000, block: 100 + step }, OTHER),
        ],
      }),
    )
}

const range = (fromMs: number, toMs: number, limit = 100, after: HistoryPoint | null = null) => ({
  chainId: CHAIN,
  tokenAddress: TOKEN,
  fromMs,
  toMs,
  after,
  limit,
})
const displayIn = (state: string) =>
  (JSON.parse(state) as { price_usd: { display: string } }).price_usd.display

export function historyContract(database: () => TestDatabase): void {
  test('the gaps of a chain are those among its entities, oldest first', async () => {
    const store = await database().connect()
    const gap = (fromBlock: number, toBlock: number) => ({
      key: `gap/${toBlock}`,
      text: JSON.stringify({ fromBlock, toBlock, afterHash: '0x00', atMs: toBlock * 1000 }),
    })
    const others = ['coverage', 'gap', 'gapless/1', 'pool/0x1'].map(key => ({ key, text: '{}' }))
    await store.commit(commitOf(CHAIN, 1, { entities: [gap(900, 1200), gap(50, 99), ...others] }))
    await store.commit(commitOf(CHAIN + 1, 1, { entities: [gap(7, 8)] }))
    expect(await store.readGaps(CHAIN)).toEqual([
      { fromBlock: 50, toBlock: 99, atMs: 99_000 },
      { fromBlock: 900, toBlock: 1200, atMs: 1_200_000 },
    ])
    await store.commit(commitOf(CHAIN, 2, { entities: [{ key: 'gap/99', text: null }] }))
    expect(await store.readGaps(CHAIN)).toHaveLength(1)
    expect(await store.readGaps(CHAIN + 2)).toEqual([])
  })

  test('a range begins with its first moment and ends before its last, and has one token only', async () => {
    const store = await database().connect()
    await publish(store, 5)
    const rows = await store.readTokenHistory(range(120_000, 240_000))
    expect(rows.map(row => [row.atMs, row.blockNumber, displayIn(row.state)])).toEqual([
      [120_000, 102, '2'],
      [180_000, 103, '3'],
    ])
    expect(await store.readTokenPoints(range(120_000, 240_000))).toEqual(
      rows.map(({ state: _state, ...point }) => point),
    )
    expect(await store.readTokenHistory({ ...range(0, 1e12), chainId: CHAIN + 1 })).toEqual([])
  })

  test('a state in history is the state of the snapshot at its record, including the sequence', async () => {
    const store = await database().connect()
    await publish(store, 2)
    const [first, second] = await store.readTokenHistory(range(0, 1e12))
    expect(second?.state).toBe((await store.readToken(CHAIN, TOKEN))?.price)
    expect(JSON.parse(first?.state ?? '')).toMatchObject({ as_of: { stream_sequence: first?.sequence } })
    expect(first?.price).toBe(
      '152415787532388367501905199875019052100/121932631356500531591068431703703700581',
    )
    expect(first?.expiresAtMs).toBe(99_999)
  })

  test('pages continue where the previous one ended, also between records of one moment', async () => {
    const store = await database().connect()
    const records = Array.from({ length: 7 }, (_, at) =>
      priced(at, `${at + 1}`, { atMs: 5000 + Math.floor(at / 3), block: 9 }),
    )
    await store.commit(commitOf(CHAIN, 1, { records }))
    const seen: string[] = []
    for (let after: HistoryPoint | null = null; ; ) {
      const page: Awaited<ReturnType<FullStore['readTokenHistory']>> = await store.readTokenHistory(
        range(0, 1e12, 2, after),
      )
      seen.push(...page.map(row => displayIn(row.state)))
      if (page.length < 2) break
      after = page.at(-1) ?? null
    }
    expect(seen).toEqual(['1', '2', '3', '4', '5', '6', '7'])
  })

  test('the last record at or before a time, a block or a sequence; null before the first', async () => {
    const store = await database().connect()
    await publish(store, 4)
    const at = async (moment: Parameters<FullStore['readTokenAt']>[2]) => {
      const row = await store.readTokenAt(CHAIN, TOKEN, moment)
      return row === null ? null : displayIn(row.state)
    }
    expect(await at({ ms: 59_999 })).toBeNull()
    expect(await at({ ms: 60_000 })).toBe('1')
    expect(await at({ ms: 179_999 })).toBe('2')
    expect(await at({ ms: 1e12 })).toBe('4')
    expect(await at({ block: 100 })).toBeNull()
    expect(await at({ block: 103 })).toBe('3')
    expect(await at({ sequence: 0 })).toBeNull()
    expect(await at({ sequence: 1 })).toBe('1')
    expect(await at({ sequence: 4 })).toBe('2')
    expect(await store.readTokenAt(CHAIN, address('nobody'), { ms: 1e12 })).toBeNull()
  })

  test('prices of many tokens at many moments come in the requested order, as one by one', async () => {
    const store = await database().connect()
    await publish(store, 4)
    const moments = [TOKEN, OTHER, address('nobody')].flatMap(tokenAddress =>
      [1e12, 59_999, 179_999, 60_000].map(ms => ({ tokenAddress, ms })),
    )
    const found = await store.readPricesAt(CHAIN, moments)
    expect(found).toHaveLength(moments.length)
    for (const [at, { tokenAddress, ms }] of moments.entries()) {
      const single = await store.readTokenAt(CHAIN, tokenAddress, { ms })
      expect(found[at] ?? null).toEqual(
        single === null ? null : { atMs: single.atMs, price: single.price, expiresAtMs: single.expiresAtMs },
      )
    }
    expect(found.filter(then => then !== null)).toHaveLength(6)
    expect(await store.readPricesAt(CHAIN, [])).toEqual([])
  })

  test('a replaced block counts with its replacement: the later record wins', async () => {
    const store = await database().connect()
    await store.commit(commitOf(CHAIN, 1, { records: [priced(1, '1', { atMs: 1000, block: 50 })] }))
    await store.commit(commitOf(CHAIN, 2, { records: [priced(2, '2', { atMs: 2000, block: 51 })] }))
    await store.commit(commitOf(CHAIN, 3, { records: [priced(3, '3', { atMs: 3000, block: 51 })] }))
    expect(displayIn((await store.readTokenAt(CHAIN, TOKEN, { block: 51 }))?.state ?? '')).toBe('3')
  })

  test('a retraction is a point without a price, with the state that applies instead', async () => {
    const store = await database().connect()
    await store.commit(commitOf(CHAIN, 1, { records: [priced(1, '1', { atMs: 1000, block: 50 })] }))
    const retraction = tokenRetract({ chainId: CHAIN, recordId: 'gone' }, TOKEN, `${TOKEN}-1`)
    await store.commit(commitOf(CHAIN, 2, { records: [saidAt(retraction, { atMs: 2000, block: 51 })] }))
    const row = await store.readTokenAt(CHAIN, TOKEN, { ms: 2000 })
    expect(row).toMatchObject({ price: null, expiresAtMs: null, blockNumber: 51 })
    expect(JSON.parse(row?.state ?? '')).toMatchObject({
      state: 'UNPRICED',
      reason: 'NO_ROUTE',
      as_of: { stream_sequence: 2 },
      retracts: { reason: 'NO_ROUTE', record_id: `${TOKEN}-1`, stream_sequence: 1 },
    })
  })

  test('history is deleted with the log it is read from', async () => {
    const store = await database().connect()
    await publish(store, 10)
    const nowMs = commitOf(CHAIN, 10).atMs + HOUR_MS
    await store.prune({ nowMs, hours: 1, records: 8, batch: 2 })
    const { oldest } = await store.readBounds()
    expect(oldest).toBeGreaterThan(1)
    const rows = await store.readTokenHistory(range(0, 1e12))
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) expect(row.sequence).toBeGreaterThanOrEqual(oldest)
    expect(await store.readTokenAt(CHAIN, TOKEN, { ms: 60_000 })).toBeNull()
  })

  test('history kept longer than the log answers as before, and the log is as short as without it', async () => {
    const store = await database().connect()
    await publish(store, 250)
    const retraction = tokenRetract({ chainId: CHAIN, recordId: 'gone' }, TOKEN, `${TOKEN}-250`)
    await store.commit(
      commitOf(CHAIN, 251, { records: [saidAt(retraction, { atMs: 15_060_000, block: 351 })] }),
    )
    const everything = () => store.readTokenHistory(range(0, 1e12, 1000))
    const then = () => store.readTokenAt(CHAIN, TOKEN, { ms: 60_000 })
    const [before, first] = [await everything(), await then()]
    expect(before).toHaveLength(251)
    const nowMs = commitOf(CHAIN, 251).atMs + HOUR_MS
    const limits = { nowMs, hours: 1, records: 8, batch: 7 }
    await store.prune({ ...limits, historyDays: 2 })
    const { oldest, head } = await store.readBounds()
    expect(oldest).toBeGreaterThan(head - 20)
    expect((await store.readLog(0, 1000, null))[0]?.sequence).toBe(oldest)
    expect(await everything()).toEqual(before)
    expect(await then()).toEqual(first)
    // Nothing is kept twice when it is asked again, and the rest of the log follows.
    await store.prune({ ...limits, records: 0, historyDays: 2 })
    await store.prune({ ...limits, records: 0, historyDays: 2 })
    expect(await store.readLog(0, 1000, null)).toEqual([])
    expect(await everything()).toEqual(before)
    expect(await (await database().connect()).readTokenHistory(range(0, 1e12, 1000))).toEqual(before)
  })

  test('kept history ends after its days, oldest first, or when it is disabled', async () => {
    const store = await database().connect()
    const DAY_MS = 24 * HOUR_MS
    for (const day of [0, 1, 2, 3])
      await store.commit(
        commitOf(CHAIN, day + 1, {
          atMs: day * DAY_MS,
          records: [priced(day + 1, `${day}`, { atMs: day * DAY_MS, block: day })],
        }),
      )
    // States of one step share a row, and the last of them decides for all: so, one record a step.
    const limits = { nowMs: 3 * DAY_MS, hours: 24, records: 0, batch: 1 }
    const days = async () => (await store.readTokenHistory(range(0, 1e12))).map(row => displayIn(row.state))
    await store.prune({ ...limits, historyDays: 3 })
    expect((await store.readBounds()).oldest).toBe(4)
    expect(await days()).toEqual(['1', '2', '3'])
    await store.prune({ ...limits, historyDays: 2 })
    expect(await days()).toEqual(['2', '3'])
    expect(await store.readTokenAt(CHAIN, TOKEN, { ms: DAY_MS })).toBeNull()
    await store.prune({ ...limits, historyDays: null })
    expect(await days()).toEqual(['3'])
  })

  test('withdrawals by a reorganisation are stored with its commit, and deleted with the history they concern', async () => {
    const store = await database().connect()
    const at = (step: number, block: number) => priced(step, `${step}`, { atMs: step * 1000, block })
    await store.commit(commitOf(CHAIN, 1, { records: [at(1, 50)] }))
    await store.commit(commitOf(CHAIN, 2, { records: [at(2, 51)] }))
    const retraction = tokenRetract({ chainId: CHAIN, recordId: 'gone' }, TOKEN, `${TOKEN}-2`, 'REORG')
    const orphaned = swap(CHAIN, poolFacts('pool', TOKEN, OTHER), 3)
    const records = [
      { ...orphaned, payload: { ...orphaned.payload, block_number: 49, finality: 'orphaned' } },
      { ...orphaned, payload: { ...orphaned.payload, block_number: 50, finality: 'orphaned' } },
      saidAt(retraction, { atMs: 3000, block: 51 }),
    ]
    await store.commit(commitOf(CHAIN, 3, { records }))
    const { atMs } = commitOf(CHAIN, 3)
    const found = [
      { sequence: 3, atMs, blockNumber: 49, keptHash: null },
      { sequence: 5, atMs, blockNumber: 51, keptHash: hash(1) },
    ]
    expect(await store.readWithdrawals(CHAIN, { after: 0, upToBlock: 100 })).toEqual(found)
    expect(await store.readWithdrawals(CHAIN, { after: 3, upToBlock: 100 })).toEqual(found.slice(1))
    expect(await store.readWithdrawals(CHAIN, { after: 0, upToBlock: 50 })).toEqual(found.slice(0, 1))
    expect(await store.readWithdrawals(CHAIN + 1, { after: 0, upToBlock: 100 })).toEqual([])
    // Another retraction, of no reorganisation, withdraws nothing; nor does a price.
    await store.commit(commitOf(CHAIN, 4, { records: [at(4, 52)] }))
    const ended = tokenRetract({ chainId: CHAIN, recordId: 'ended' }, TOKEN, `${TOKEN}-4`)
    await store.commit(commitOf(CHAIN, 5, { records: [saidAt(ended, { atMs: 5000, block: 53 })] }))
    expect(await store.readWithdrawals(CHAIN, { after: 0, upToBlock: 100 })).toEqual(found)
    const limits = { nowMs: commitOf(CHAIN, 5).atMs + HOUR_MS, hours: 1, records: 0, batch: 100 }
    await store.prune({ ...limits, historyDays: 1 })
    expect(await store.readWithdrawals(CHAIN, { after: 0, upToBlock: 100 })).toEqual(found)
    await store.prune(limits)
    expect(await store.readWithdrawals(CHAIN, { after: 0, upToBlock: 100 })).toEqual([])
    expect(await store.readWithdrawalScan()).toBeNull()
  })

  test('candles are deleted when all their prices are gone, and no reorganisation can bring more', async () => {
    const store = await database().connect()
    const HEIGHTS = [10, 5_000, 20_000]
    for (const [at, block] of HEIGHTS.entries())
      await store.commit(
        commitOf(CHAIN, at + 1, {
          atMs: (at + 1) * HOUR_MS,
          records: [priced(at + 1, '1', { atMs: at * HOUR_MS, block })],
        }),
      )
    while (await buildCandles(store, 1e14));
    const hours = async () =>
      (
        await store.readCandles(
          { chainId: CHAIN, tokenAddress: TOKEN, intervalMs: HOUR_MS },
          { fromMs: 0, toMs: 1e14, limit: 10 },
        )
      ).map(({ fromMs, topBlock }) => [fromMs / HOUR_MS, topBlock])
    expect(await hours()).toEqual([
      [0, 10],
      [1, 5_000],
      [2, 20_000],
    ])
    const limits = { nowMs: 4 * HOUR_MS, records: 0, batch: 1 }
    await store.prune({ ...limits, hours: 3 })
    expect(await hours()).toHaveLength(3)
    await store.prune({ ...limits, hours: 2 })
    // Below the oldest price that is left, by more than a reorganisation can reach.
    expect(await hours()).toEqual([[2, 20_000]])
  })
}
