/**
 * Retention and epochs. Records are deleted from the oldest without a gap, so that everything above the oldest retained
 * sequence can be replayed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { epochStart } from '../epoch.ts'
import { type DeletedRow, keptRows } from '../keptStates.ts'
import {
  assertPruneLimits,
  REACH_BLOCKS,
  oldestHistoryMs,
  oldestMs,
  type PruneLimits,
  type RetentionStore,
} from '../maintenance.ts'
import type { Claimed } from './claimed.ts'
import { type Connection, type Query, type Statement, statement } from './connection.ts'
import { readBounds, takeSequences, TIMELINE } from './log.ts'
import { BLOCK_OF } from './poolEvents.ts'

/** A row that may be deleted: its key, and its number of records. */
type OldRow = { readonly key: number; readonly records: number; readonly at_ms: number }

/** `kept` finds the key above which all rows belong to the newest ones to keep. */
type Series = {
  readonly kept: Statement
  readonly oldest: Statement
  /** Deletes everything up to and including a key. */
  readonly remove: (connection: Connection, key: number) => Promise<unknown>
}

function removing(sql: string): Series['remove'] {
  const asked = statement(sql)
  return (connection, key) => connection.query(asked, [key])
}

/** Points, and what withdrew them. */
const HISTORY_REMOVED = `points AS (DELETE FROM token_history WHERE sequence <= $1)
  DELETE FROM withdrawal WHERE sequence <= $1`

const LOG: Series = {
  kept: statement(
    'SELECT coalesce(max(last), 0) AS key FROM log, head WHERE log.written <= head.written - $1::bigint',
  ),
  oldest: statement(
    'SELECT last AS key, count AS records, at_ms FROM log WHERE last <= $1 ORDER BY last LIMIT $2',
  ),
  // History refers to the log and is deleted with it.
  remove: removing(`WITH pruned AS (DELETE FROM log WHERE last <= $1), ${HISTORY_REMOVED}`),
}

const TAKE = statement(`
  WITH taken AS (DELETE FROM log WHERE last <= $1 RETURNING last, count, chain_id, at_ms, body, packed)
  SELECT last, count, chain_id AS "chainId", at_ms AS "timeMs", body, packed FROM taken ORDER BY last`)
const KEEP = statement(`
  INSERT INTO kept_state (last, count, at_ms, packed)
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[])`)

/** The log while its history is kept. Of two writers that prune at once, each row is deleted, and kept, by one. */
const LOG_BESIDE_HISTORY: Series = {
  ...LOG,
  remove: (connection, key) =>
    connection.write(async query => {
      const kept = keptRows(await query<DeletedRow>(TAKE, [key]))
      await query(KEEP, [
        kept.map(({ last }) => last),
        kept.map(({ count }) => count),
        kept.map(({ timeMs }) => timeMs),
        kept.map(({ packed }) => packed),
      ])
    }),
}

/** Kept states, and with them the points of history that refer to them. */
const HISTORY: Series = {
  kept: statement('SELECT coalesce(max(last), 0) AS key FROM kept_state WHERE $1::bigint = 0'),
  oldest: statement(
    'SELECT last AS key, count AS records, at_ms FROM kept_state WHERE last <= $1 ORDER BY last LIMIT $2',
  ),
  remove: removing(`WITH pruned AS (DELETE FROM kept_state WHERE last <= $1), ${HISTORY_REMOVED}`),
}
const numbered = (table: 'pool_event' | 'input'): Series => ({
  kept: statement(
    `SELECT coalesce((SELECT id FROM ${table} ORDER BY id DESC OFFSET $1::bigint LIMIT 1), 0) AS key`,
  ),
  oldest: statement(
    `SELECT id AS key, 1 AS records, at_ms FROM ${table} WHERE id <= $1 ORDER BY id LIMIT $2`,
  ),
  remove: removing(`DELETE FROM ${table} WHERE id <= $1`),
})
/** Events, and the blocks that no event refers to any more. */
const EVENTS: Series = {
  ...numbered('pool_event'),
  remove: removing(`
    WITH named AS (SELECT DISTINCT ${BLOCK_OF} AS block FROM pool_event WHERE id <= $1),
    blocks AS (
      DELETE FROM event_block USING named WHERE event_block.id = block AND NOT EXISTS (
        SELECT FROM pool_event AS event
        WHERE event.chain_id = event_block.chain_id AND event.block_hash = event_block.id::text AND event.id > $1))
    DELETE FROM pool_event WHERE id <= $1`),
}
const INPUTS = numbered('input')

/** Candles whose prices are all gone. */
const REMOVE_CANDLES = statement(`
  DELETE FROM candle USING (
    SELECT chain_id AS chain,
      (SELECT block_number FROM token_history WHERE token_history.chain_id = position.chain_id
       ORDER BY sequence LIMIT 1) - $1::bigint AS block
    FROM position) AS oldest
  WHERE chain_id = chain AND top_block < block`)

const HISTORY_SIZE = statement(`
  SELECT count(*) AS prices, coalesce(min(at_ms), 0) AS "fromMs", coalesce(max(at_ms), 0) AS "toMs"
  FROM token_history`)
const SET_EPOCH = statement(`UPDATE head SET epoch = $1, next = $2, timeline = ${TIMELINE}`)

export function maintenanceStore(connection: Connection, { generation }: Claimed): RetentionStore {
  return {
    async prune(limits) {
      assertPruneLimits(limits)
      const old = { ...limits, oldestMs: oldestMs(limits) }
      const log = (limits.historyDays ?? null) === null ? LOG : LOG_BESIDE_HISTORY
      const pruned = {
        records: await pruneSeries(connection, log, old, limits.replayed),
        events: await pruneSeries(connection, EVENTS, old),
        inputs: await pruneSeries(connection, INPUTS, old),
      }
      await pruneSeries(connection, HISTORY, { ...limits, records: 0, oldestMs: oldestHistoryMs(limits) })
      await connection.query(REMOVE_CANDLES, [REACH_BLOCKS])
      return pruned
    },

    async readHistorySize() {
      const [size] = await connection.query<{ prices: number; fromMs: number; toMs: number }>(HISTORY_SIZE)
      return size ?? { prices: 0, fromMs: 0, toMs: 0 }
    },

    startEpoch() {
      return connection.write(async query => {
        await takeSequences(query, { generation, lease: null }, 0)
        await beginEpoch(query)
        return readBounds(query)
      })
    },
  }
}

/** Call inside a write transaction that holds the head row. */
export async function beginEpoch(query: Query): Promise<void> {
  const epoch = (await readBounds(query)).epoch + 1
  await query(SET_EPOCH, [epoch, epochStart(epoch) + 1])
}

type Old = PruneLimits & { readonly oldestMs: number }

/** Deletes step by step. It locks nothing that a commit writes, and a reader keeps its snapshot. */
async function pruneSeries(
  connection: Connection,
  series: Series,
  limits: Old,
  most: () => number | null = () => null,
): Promise<number> {
  limits.signal?.throwIfAborted()
  const [kept] = await connection.query<{ key: number }>(series.kept, [limits.records])
  let pruned = 0
  for (;;) {
    const rows = await connection.query<OldRow>(series.oldest, [
      Math.min(kept?.key ?? 0, most() ?? Number.MAX_SAFE_INTEGER),
      limits.batch,
    ])
    const step = oldestPast(rows, limits)
    if (step === null) return pruned
    await series.remove(connection, step.key)
    pruned += step.records
    await nextTurn()
    limits.signal?.throwIfAborted()
  }
}

/** The longest run of oldest rows that are past the time limit, of at most a batch and at least one row. */
function oldestPast(rows: readonly OldRow[], { oldestMs: past, batch }: Old) {
  let run: { readonly key: number; readonly records: number } | null = null
  for (const row of rows) {
    if (row.at_ms > past) break
    const total: number = (run?.records ?? 0) + row.records
    if (run !== null && total > batch) break
    run = { key: row.key, records: total }
  }
  return run
}
