/**
 * A database that was written before rows of the log were compressed, quotes were stored by commit and events by block:
 * what lies in it is read as it was, byte for byte, and later commits are stored next to it.
 */
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkStore } from './check.ts'
import { LOG_DICTIONARIES } from './logDictionary.ts'
import { openReader } from './openStore.ts'
import { unpack } from './packed.ts'
import type { EventRow } from './port.ts'
import { type FullStore, postgresDatabase, sqliteDatabase, type TestDatabase } from './testing/connect.ts'
import { address, commitOf, eventOf, tipAt } from './testing/drafts.ts'
import { toFormerEvents } from './testing/formerForm.ts'
import { execute, type PostgresServer, startPostgres } from './testing/postgresServer.ts'
import { scriptedCommit, scriptedTokens } from './testing/script.ts'
import { wholeLog, wholeSnapshot } from './testing/wholeLog.ts'

type Quote = { readonly token: string; readonly sequence: number; readonly quote: string }

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.dispose())

const stores = [
  { name: 'SQLite', make: () => sqliteDatabase(), rewrite: rewriteFile, blocks: blocksInFile },
  {
    name: 'PostgreSQL',
    make: () => postgresDatabase(server),
    rewrite: rewriteServer,
    blocks: blocksOnServer,
  },
]

describe.each(stores)('$name', ({ make, rewrite, blocks }) => {
  let database: TestDatabase
  beforeEach(async () => {
    database = await make()
  })
  afterEach(() => database.dispose())

  test('S12: rows of the previous form are read as they were, and those after them too', async () => {
    const before = await database.connect()
    await commitSteps(before, 1, 12)
    const said = await readings(before)
    expect(said.quotes.length).toBeGreaterThan(2)
    await database.leave()
    await rewrite(database.address, said.quotes)
    await toFormerEvents(database.address)

    const store = await database.connect()
    expect(await readings(store)).toEqual(said)
    await commitSteps(store, 13, 24)
    const reader = await openReader(database.address)
    expect((await checkStore(reader)).faults).toEqual([])
    await reader.close()
    const log = await wholeLog(store)
    expect(log.slice(0, said.log.length)).toEqual(said.log)
    for (const { sequence, quote } of (await readings(store)).quotes)
      expect(JSON.parse(quote)).toMatchObject({ as_of: { stream_sequence: sequence } })
  })

  test('S12: events of the form before become final or orphaned, and are there once when their block returns', async () => {
    const before = await database.connect()
    for (const step of [1, 2, 3, 4]) await before.commit(commitOf(1, step, { events: twoEvents(step) }))
    await before.commit(commitOf(1, 5, { finalizedNumber: tipAt(1).number, orphanedBlocks: [tipAt(4).hash] }))
    const said = await eventsOf(before)
    await database.leave()
    await toFormerEvents(database.address)

    const store = await database.connect()
    expect(await eventsOf(store)).toEqual(said)
    const returned = [1, 3, 4].flatMap(step => twoEvents(step))
    await store.commit(commitOf(1, 6, { orphanedBlocks: [tipAt(2).hash, tipAt(3).hash], events: returned }))
    expect((await eventsOf(store)).at(-1)?.finality).toBe('finalized')
    await store.commit(commitOf(1, 7, { finalizedNumber: tipAt(3).number }))
    const after = await eventsOf(store)
    const finalities = ['4 canonical', '3 finalized', '2 orphaned', '1 finalized']
    expect(after.map(({ blockNumber, finality }) => `${blockNumber - 1_000} ${finality}`)).toEqual(
      finalities.flatMap(each => [each, each]),
    )
    expect(after.map(withoutFinality)).toEqual(said.map(withoutFinality))
    // The oldest two blocks, and with the rest their rows.
    const limits = { nowMs: Number.MAX_SAFE_INTEGER, hours: 0, records: 0, batch: 3 }
    expect(await store.prune({ ...limits, records: 4 })).toMatchObject({ events: 4 })
    expect((await eventsOf(store)).length).toBe(4)
    await store.prune(limits)
    expect(await blocks(database.address)).toBe(0)
  })
})

const POOL = address('pool')
const twoEvents = (step: number) => [eventOf(POOL, step, 0), eventOf(POOL, step, 7)]
const withoutFinality = (event: EventRow) => ({ ...event, finality: null })

const eventsOf = (store: FullStore): Promise<readonly EventRow[]> =>
  store.readEvents({
    chainId: 1,
    poolAddress: POOL,
    kind: null,
    fromBlock: null,
    toBlock: null,
    before: null,
    limit: 100,
  })

async function commitSteps(store: FullStore, first: number, last: number): Promise<void> {
  for (let step = first; step <= last; step++) await store.commit(scriptedCommit(1, step))
}

/** All that is read of the log, of tokens and of their past. */
async function readings(store: FullStore) {
  const quotes: Quote[] = []
  const histories: unknown[] = []
  for (const token of scriptedTokens) {
    const row = await store.readQuote(1, token)
    if (row !== null) quotes.push({ token, sequence: row.sequence, quote: row.quote })
    const range = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, after: null, limit: 1_000 }
    histories.push(await store.readTokenHistory({ chainId: 1, tokenAddress: token, ...range }))
  }
  return { log: await wholeLog(store), pools: await wholeSnapshot(store, 100), quotes, histories }
}

/** What the program before would have written of the same. */
async function rewriteFile(address: string, quotes: readonly Quote[]): Promise<void> {
  const database = new DatabaseSync(address.slice('sqlite:'.length))
  database.function('unpacked', packed => unpack(packed as Uint8Array, LOG_DICTIONARIES))
  database.exec(`
    UPDATE log SET body = unpacked(packed), packed = NULL;
    DELETE FROM quote_place;
    DELETE FROM quote_book`)
  const insert = database.prepare(
    'INSERT INTO token_quote (chain_id, token_address, sequence, quote) VALUES (1, ?, ?, ?)',
  )
  for (const { token, sequence, quote } of quotes) insert.run(token, sequence, quote)
  database.close()
}

async function rewriteServer(address: string, quotes: readonly Quote[]): Promise<void> {
  const rows = (await execute(address, 'SELECT last, packed FROM assay.log')) as readonly {
    readonly last: string
    readonly packed: Uint8Array
  }[]
  for (const { last, packed } of rows)
    await execute(
      address,
      `UPDATE assay.log SET body = $text$${unpack(packed, LOG_DICTIONARIES)}$text$, packed = NULL WHERE last = ${last}`,
    )
  await execute(address, 'DELETE FROM assay.quote_place')
  await execute(address, 'DELETE FROM assay.quote_book')
  for (const { token, sequence, quote } of quotes)
    await execute(
      address,
      `INSERT INTO assay.token_quote (chain_id, token_address, sequence, quote)
       VALUES (1, '${token}', ${sequence}, $text$${quote}$text$)`,
    )
}

function blocksInFile(address: string): number {
  const database = new DatabaseSync(address.slice('sqlite:'.length))
  const { blocks } = database.prepare('SELECT count(*) AS blocks FROM event_block').get() as {
    blocks: number
  }
  database.close()
  return blocks
}

async function blocksOnServer(address: string): Promise<number> {
  const [row] = await execute(address, 'SELECT count(*) AS blocks FROM assay.event_block')
  return Number((row as { blocks: string }).blocks)
}
