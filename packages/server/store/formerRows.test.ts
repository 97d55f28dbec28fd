/**
 * A database that was written before rows of the log were compressed and quotes were stored by commit: what lies in it is
 * read as it was, byte for byte, and what is committed from then on stands beside it.
 */
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkStore } from './check.ts'
import { LOG_DICTIONARIES } from './logDictionary.ts'
import { openReader } from './openStore.ts'
import { unpack } from './packed.ts'
import { type FullStore, postgresDatabase, sqliteDatabase, type TestDatabase } from './testing/connect.ts'
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
  { name: 'SQLite', make: () => sqliteDatabase(), rewrite: rewriteFile },
  { name: 'PostgreSQL', make: () => postgresDatabase(server), rewrite: rewriteServer },
]

describe.each(stores)('$name', ({ make, rewrite }) => {
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
