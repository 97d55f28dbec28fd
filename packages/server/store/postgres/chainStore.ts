/**
 * The commit of a step and the checkpoint a worker resumes from. A commit builds on the stored position: the same step
 * with another past, or a second writer of the chain, ends in a conflict and writes nothing.
 *
 * A step that is already committed is recognised, so a commit whose answer was lost with the connection is simply
 * repeated.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { ChainStore, Checkpoint, Committed, Conflict, StepCommit } from '../port.ts'
import { packQuotes, type QuoteBook } from '../quoteBook.ts'
import { alreadyOrConflict, type Position, positionRow, tipOf } from '../position.ts'
import { StoreError } from '../storeError.ts'
import { type Connection, type Query, statement } from './connection.ts'
import { sealRecords, writeCurrent } from './currentState.ts'
import { writeFacts } from './facts.ts'
import { writeHistory } from './historyStore.ts'
import { type Fence, takeSequences, writeLog } from './log.ts'
import { writeEvents } from './poolEvents.ts'
import { placeQuotes, writeBook } from './quoteBooks.ts'
import { CHANNEL } from './listener.ts'
import { writeWithdrawals } from './withdrawalStore.ts'

/** Pauses between attempts of a commit whose connection broke: together longer than a server takes to restart. */
const AGAIN_MS = [10, 50, 250, 1_000, 2_000, 4_000] as const

// Locks the chain's name rather than its row: there is no row before the first commit.
export const LOCK_CHAIN = statement(
  "SELECT pg_advisory_xact_lock(hashtextextended('assay chain ' || $1::text, 0))",
)
const POSITION = statement('SELECT * FROM position WHERE chain_id = $1')
const ENTITIES = statement('SELECT key, text FROM entity WHERE chain_id = $1 ORDER BY key')

export function chainStore(connection: Connection, fenceOf: (chainId: number) => Fence): ChainStore {
  return {
    readCheckpoint(chainId) {
      return connection.read(async (query): Promise<Checkpoint | null> => {
        const [position] = await query<Position>(POSITION, [chainId])
        if (position === undefined) return null
        const entities = await query<{ key: string; text: string }>(ENTITIES, [chainId])
        return {
          step: position.step,
          tip: tipOf(position),
          entities: entities.map(({ key, text }) => [key, text] as const),
        }
      })
    },

    async commit(commit) {
      const fence = fenceOf(commit.chainId)
      const book = packQuotes(commit.records.map(({ quote }) => quote))
      for (const waitMs of AGAIN_MS)
        try {
          return await commitOnce(connection, fence, commit, book)
        } catch (failure) {
          if (!(failure instanceof StoreError) || failure.code !== 'STORE_UNREACHABLE') throw failure
          await delay(waitMs)
        }
      return commitOnce(connection, fence, commit, book)
    },
  }
}

function commitOnce(
  connection: Connection,
  fence: Fence,
  commit: StepCommit,
  book: QuoteBook | null,
): Promise<Committed | Conflict> {
  return connection.write(async query => {
    await query(LOCK_CHAIN, [commit.chainId])
    const [stored] = await query<Position>(POSITION, [commit.chainId])
    return alreadyOrConflict(stored, commit) ?? (await write(query, fence, commit, book))
  })
}

const UPSERT_ENTITIES = statement(`
  INSERT INTO entity (chain_id, key, text)
  SELECT $1, key, text FROM unnest($2::text[], $3::text[]) AS row (key, text)
  ON CONFLICT (chain_id, key) DO UPDATE SET text = excluded.text`)
const DELETE_ENTITIES = statement('DELETE FROM entity WHERE chain_id = $1 AND key = ANY ($2::text[])')
const INSERT_INPUT = statement('INSERT INTO input (chain_id, step, at_ms, text) VALUES ($1, $2, $3, $4)')
const UPSERT_POSITION = statement(`
  INSERT INTO position
    (chain_id, step, tip_number, tip_hash, tip_time_ms, at_ms, first_sequence, last_sequence)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (chain_id) DO UPDATE SET
    step = excluded.step, tip_number = excluded.tip_number, tip_hash = excluded.tip_hash,
    tip_time_ms = excluded.tip_time_ms, at_ms = excluded.at_ms,
    first_sequence = excluded.first_sequence, last_sequence = excluded.last_sequence`)
const NOTIFY = statement(`SELECT pg_notify('${CHANNEL}', '')`)

async function write(
  query: Query,
  fence: Fence,
  commit: StepCommit,
  book: QuoteBook | null,
): Promise<Committed> {
  const { chainId, step, atMs } = commit
  await writeEntities(query, commit)
  await writeFacts(query, commit)
  await writeEvents(query, commit)
  await writeBook(query, chainId, step, book)
  if (commit.input !== null) await query(INSERT_INPUT, [chainId, step, atMs, commit.input])
  const records = await sealRecords(query, commit)

  // Every other writer waits from here on: only work that needs a sequence is left.
  const head = await takeSequences(query, fence, commit.records.length)
  const { envelopes, current, published, quotes, withdrawals } = records(head.next)
  const { first, last } = await writeLog(query, head, chainId, atMs, envelopes)
  await writeCurrent(query, commit, current)
  await placeQuotes(query, chainId, step, book, [...quotes.values()])
  await writeHistory(query, chainId, published)
  await writeWithdrawals(query, chainId, withdrawals)
  await query(UPSERT_POSITION, positionRow(commit, first, last))
  if (first !== null) await query(NOTIFY)
  return { outcome: 'committed', first, last }
}

async function writeEntities(query: Query, { chainId, entities }: StepCommit): Promise<void> {
  const texts = new Map(entities.map(({ key, text }) => [key, text]))
  const gone = [...texts.keys()].filter(key => texts.get(key) === null)
  const kept = [...texts.keys()].filter(key => texts.get(key) !== null)
  if (gone.length > 0) await query(DELETE_ENTITIES, [chainId, gone])
  if (kept.length > 0) await query(UPSERT_ENTITIES, [chainId, kept, kept.map(key => texts.get(key))])
}
