/** Commits: whole or not at all, on the position before them, once. */
import { expect, test } from 'vitest'
import type { RecordDraft } from '../../port.ts'
import { StoreError } from '../../storeError.ts'
import {
  address,
  commitOf,
  eventOf,
  hash,
  health,
  idOf,
  poolFacts,
  poolRetract,
  poolUpsert,
  tipAt,
  tokenFacts,
  tokenRetract,
  tokenUpsert,
  unpricedUpsert,
} from '../drafts.ts'
import type { TestDatabase } from '../connect.ts'
import { wholeLog } from '../wholeLog.ts'

const TOKEN = address('token')
const OTHER = address('other')
const POOL = poolFacts('pool', TOKEN, address('usd'))

const id = (recordId: string) => ({ chainId: 1, recordId })

export function commitContract(database: () => TestDatabase): void {
  test('the first record is 1, and a commit takes contiguous sequences', async () => {
    const store = await database().connect()
    expect(await store.readBounds()).toEqual({ epoch: 0, oldest: 1, head: 0 })
    const records = [health(1, 'a'), health(1, 'b'), health(1, 'c')]
    expect(await store.commit(commitOf(1, 1, { records }))).toEqual({
      outcome: 'committed',
      first: 1,
      last: 3,
    })
    expect(await store.commit(commitOf(1, 2))).toEqual({ outcome: 'committed', first: null, last: 3 })
    expect(await store.commit(commitOf(7, 1, { records }))).toEqual({
      outcome: 'committed',
      first: 4,
      last: 6,
    })
    expect(await store.readBounds()).toEqual({ epoch: 0, oldest: 1, head: 6 })
  })

  test('the same step with the same tip is already applied, and nothing is written twice', async () => {
    const store = await database().connect()
    const first = commitOf(1, 1, { records: [health(1, 'a'), health(1, 'b')], input: 'x' })
    await store.commit(first)
    expect(await store.commit(first)).toEqual({ outcome: 'already', first: 1, last: 2 })
    await store.commit(commitOf(2, 1, { records: [health(2, 'a')] }))
    expect(await store.commit(first)).toEqual({ outcome: 'already', first: 1, last: 2 })
    expect((await store.readBounds()).head).toBe(3)
    const silent = commitOf(1, 2)
    await store.commit(silent)
    expect(await store.commit(silent)).toEqual({ outcome: 'already', first: null, last: 3 })
  })

  test('a step that does not follow the stored position conflicts and writes nothing', async () => {
    const store = await database().connect()
    const records = [health(1, 'a')]
    const entities = [{ key: 'chain', text: 'two' }]
    await store.commit(commitOf(1, 1, { records, entities: [{ key: 'chain', text: 'one' }] }))
    const conflict = { outcome: 'conflict', storedStep: 1, storedTipHash: tipAt(1).hash }
    const wrong = [
      commitOf(1, 3, { records, entities }),
      commitOf(1, 2, { records, entities, previousTipHash: hash('other') }),
      commitOf(1, 2, { records, entities, previousTipHash: null }),
      commitOf(1, 1, { records, entities, tip: { number: 1, hash: hash('other'), timeMs: 0 } }),
      commitOf(1, 1, { records, entities, tip: null }),
      commitOf(1, 0, { records, entities }),
    ]
    for (const commit of wrong) expect(await store.commit(commit)).toEqual(conflict)
    expect(await store.commit(commitOf(2, 2, { records }))).toEqual({
      outcome: 'conflict',
      storedStep: 0,
      storedTipHash: null,
    })
    expect((await store.readCheckpoint(1))?.entities).toEqual([['chain', 'one']])
    expect(await store.readCheckpoint(2)).toBeNull()
    expect((await store.readBounds()).head).toBe(1)
  })

  test('of two writers with the same step one commits and the other conflicts', async () => {
    const [left, right] = [await database().connect(), await database().connect()]
    const mine = commitOf(1, 1, { records: [health(1, 'mine')] })
    const theirs = { ...mine, tip: { number: 1_001, hash: hash('theirs'), timeMs: 0 } }
    const results = await Promise.all([left.commit(mine), right.commit(theirs)])
    expect(results.map(({ outcome }) => outcome).sort()).toEqual(['committed', 'conflict'])
    expect((await left.readBounds()).head).toBe(1)
  })

  test('a commit that fails on its last record leaves no trace', async () => {
    const store = await database().connect()
    await store.commit(
      commitOf(1, 1, { records: [health(1, 'before')], entities: [{ key: 'a', text: '1' }] }),
    )
    const records: RecordDraft[] = [
      tokenUpsert(id('1-2-0'), TOKEN, '1'),
      health(1, 'after'),
      tokenRetract(id('1-2-1'), TOKEN, 'a record nobody has sent'),
    ]
    const commit = commitOf(1, 2, {
      records,
      entities: [
        { key: 'a', text: null },
        { key: 'b', text: '2' },
      ],
      pools: [POOL],
      tokens: [tokenFacts(TOKEN)],
      events: [eventOf(POOL.poolAddress, 2, 0)],
    })
    const failure = await store.commit(commit).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreError)
    expect(failure).toMatchObject({ code: 'STORE_MISUSE', retryable: false })
    expect(await store.readCheckpoint(1)).toEqual({ step: 1, tip: tipAt(1), entities: [['a', '1']] })
    expect((await wholeLog(store)).length).toBe(1)
    expect(await store.readToken(1, TOKEN)).toBeNull()
    expect(await store.readQuote(1, TOKEN)).toBeNull()
    expect(await store.readPool(1, POOL.poolAddress)).toBeNull()
    expect(JSON.parse((await store.readHealth(1)) as string).status).toBe('before')
    const repaired = await store.commit({ ...commit, records: commit.records.slice(0, 2) })
    expect(repaired).toEqual({ outcome: 'committed', first: 2, last: 3 })
  })

  test('a checkpoint has every entity as last written, also after closing', async () => {
    const store = await database().connect()
    expect(await store.readCheckpoint(1)).toBeNull()
    const long = 'é"\n'.repeat(50_000)
    await store.commit(
      commitOf(1, 1, {
        tip: null,
        entities: [
          { key: 'pool/0xb', text: 'old' },
          { key: 'pool/0xa', text: 'x' },
          { key: 'chain', text: '{}' },
        ],
      }),
    )
    expect(await store.readCheckpoint(1)).toMatchObject({ step: 1, tip: null })
    await store.commit(
      commitOf(1, 2, {
        previousTipHash: null,
        entities: [
          { key: 'pool/0xa', text: null },
          { key: 'pool/0xb', text: long },
          { key: 'none', text: null },
        ],
      }),
    )
    await store.commit(commitOf(2, 1, { entities: [{ key: 'chain', text: 'other chain' }] }))
    await database().leave()
    const again = await database().connect()
    const checkpoint = await again.readCheckpoint(1)
    expect(checkpoint).toMatchObject({ step: 2, tip: tipAt(2) })
    expect(new Map(checkpoint?.entities)).toEqual(
      new Map([
        ['chain', '{}'],
        ['pool/0xb', long],
      ]),
    )
    const next = commitOf(1, 3, { records: [health(1, 'on')] })
    expect(await again.commit(next)).toEqual({ outcome: 'committed', first: 1, last: 1 })
  })

  test('a token record carries its sequence in as_of, in the stream, the list and the quote', async () => {
    const store = await database().connect()
    const upsert = tokenUpsert(id('1-1-0'), TOKEN, '1.5', [POOL.poolAddress])
    await store.commit(commitOf(1, 1, { records: [health(1, 'a'), upsert], tokens: [tokenFacts(TOKEN)] }))
    const [, record] = await wholeLog(store)
    const asOf = { stream_sequence: 2, ...(upsert.payload['as_of'] as object) }
    expect(JSON.parse(record?.envelope as string)).toEqual({
      stream_sequence: 2,
      routing: upsert.routing,
      type: 'PRICE_UPSERT',
      payload: { ...upsert.payload, as_of: asOf },
    })
    expect(record).toMatchObject({ chainId: 1, type: 'PRICE_UPSERT', timeMs: commitOf(1, 1).atMs })
    expect(record?.poolIds).toEqual([idOf(POOL.poolAddress)])
    expect(record?.tokenIds).toEqual([idOf(TOKEN)])
    const { scope: _, chain_id: __, token_id: ___, record_id: ____, ...compact } = upsert.payload
    const token = await store.readToken(1, TOKEN)
    expect(token?.sequence).toBe(2)
    expect(JSON.parse(token?.price as string)).toEqual({ ...compact, as_of: asOf })
    const quote = await store.readQuote(1, TOKEN)
    expect(quote?.sequence).toBe(2)
    expect(quote?.price).toBe(token?.price)
    expect(quote?.bytes).toBe(Buffer.byteLength(quote?.quote as string))
    expect(JSON.parse(quote?.quote as string)).toEqual({
      ...JSON.parse(upsert.quote?.text as string),
      as_of: asOf,
    })
  })

  test('a retraction names the sequence of what it withdraws, and shows the state that follows', async () => {
    const store = await database().connect()
    await store.commit(
      commitOf(1, 1, {
        records: [poolUpsert(id('1-1-0'), POOL, 5), tokenUpsert(id('1-1-1'), TOKEN, '1')],
        pools: [POOL],
        tokens: [tokenFacts(TOKEN)],
      }),
    )
    await store.commit(commitOf(1, 2, { records: [tokenUpsert(id('1-2-0'), TOKEN, '2')] }))
    await store.commit(
      commitOf(1, 3, {
        records: [
          poolRetract(id('1-3-0'), POOL, '1-1-0', 6),
          tokenRetract(id('1-3-1'), TOKEN, '1-2-0'),
          poolRetract(id('1-3-2'), POOL, '1-3-0', null),
        ],
      }),
    )
    const payloads = (await wholeLog(store)).map(({ envelope }) => JSON.parse(envelope).payload)
    expect(payloads[3].retracted).toEqual({ record_id: '1-1-0', stream_sequence: 1 })
    expect(payloads[3].current.slot.tick).toBe(6)
    expect(payloads[3].current).not.toHaveProperty('as_of')
    expect(payloads[4].retracted).toEqual({ record_id: '1-2-0', stream_sequence: 3 })
    expect(payloads[4].current.as_of.stream_sequence).toBe(5)
    expect(payloads[5].retracted).toEqual({ record_id: '1-3-0', stream_sequence: 4 })
    expect(payloads[5].current).toBeNull()
    const token = await store.readToken(1, TOKEN)
    expect(JSON.parse(token?.price as string)).toEqual(payloads[4].current)
    expect(JSON.parse((await store.readQuote(1, TOKEN))?.quote as string).as_of.stream_sequence).toBe(5)
    expect(await store.readPool(1, POOL.poolAddress)).toMatchObject({ state: null, sequence: 6 })
  })

  test('R-unpriced-4: a state without a price names the last one and its record, through further reasons and a reload', async () => {
    const store = await database().connect()
    const steps = [
      [tokenUpsert(id('1-1-0'), TOKEN, '1')],
      [tokenUpsert(id('1-2-0'), TOKEN, '2')],
      [tokenRetract(id('1-3-0'), TOKEN, '1-2-0', 'FEED')],
      // Another reason is no retraction.
      [unpricedUpsert(id('1-4-0'), TOKEN, 'NO_ROUTE')],
      [tokenUpsert(id('1-5-0'), TOKEN, '3')],
      [tokenRetract(id('1-6-0'), TOKEN, '1-5-0', 'REORG')],
      // Its first record of all, and a price and its end in one commit.
      [unpricedUpsert(id('1-7-0'), OTHER, 'NO_POOL')],
      [tokenUpsert(id('1-8-0'), OTHER, '4'), tokenRetract(id('1-8-1'), OTHER, '1-8-0')],
    ]
    for (const [at, records] of steps.entries()) {
      await store.commit(commitOf(1, at + 1, { records, tokens: [tokenFacts(TOKEN), tokenFacts(OTHER)] }))
      for (const address of [TOKEN, OTHER]) {
        const row = await store.readToken(1, address)
        if (row === null || row.price === null) continue
        const quote = await store.readQuote(1, address)
        const said = (JSON.parse(quote?.quote ?? '{}') as { last_priced?: unknown }).last_priced
        expect(said).toEqual(JSON.parse(row.price).last_priced)
      }
    }
    const states = (await wholeLog(store)).map(({ envelope }) => {
      const { payload } = JSON.parse(envelope)
      return payload.current ?? payload
    })
    const { price_usd, confidence, evaluated_at_ms } = states[0]
    const last = (display: string, stream_sequence: number) => ({
      price_usd: { ...price_usd, display },
      score: confidence.score,
      at_ms: evaluated_at_ms,
      stream_sequence,
    })
    expect(states.map(({ last_priced }) => last_priced)).toEqual([
      undefined,
      undefined,
      last('2', 2),
      last('2', 2),
      undefined,
      last('3', 5),
      null,
      undefined,
      last('4', 8),
    ])
  })

  test('a token record without a quote does not keep the quote of the record before', async () => {
    const store = await database().connect()
    const upsert = tokenUpsert(id('1-1-0'), TOKEN, '1')
    await store.commit(commitOf(1, 1, { records: [upsert] }))
    expect(await store.readQuote(1, TOKEN)).not.toBeNull()
    await store.commit(commitOf(1, 2, { records: [{ ...upsert, quote: null }] }))
    expect(await store.readQuote(1, TOKEN)).toBeNull()
  })

  test('a new epoch starts above every sequence of the old one', async () => {
    const store = await database().connect()
    await store.commit(commitOf(1, 1, { records: [health(1, 'old')] }))
    const start = 2 ** 40
    expect(await store.startEpoch()).toEqual({ epoch: 1, oldest: start + 1, head: start })
    const records = [health(1, 'new')]
    expect(await store.commit(commitOf(1, 2, { records }))).toEqual({
      outcome: 'committed',
      first: start + 1,
      last: start + 1,
    })
    expect(await store.readBounds()).toEqual({ epoch: 1, oldest: start + 1, head: start + 1 })
    expect((await store.readLog(start, 10, null)).map(({ sequence }) => sequence)).toEqual([start + 1])
    expect(await store.startEpoch()).toMatchObject({ epoch: 2, head: 2 * start })
  })
}
