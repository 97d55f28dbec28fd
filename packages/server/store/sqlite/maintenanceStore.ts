/**
 * Retention and epochs. Records are deleted from the oldest without a gap, so that everything above the oldest retained
 * sequence can be replayed.
 */
import type { StatementSync } from 'node:sqlite'
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
import type { Connection } from './connection.ts'
import { boundsReader } from './log.ts'

/** A row that may be deleted: its key, its number of records, and its position among all records ever written. */
type OldRow = {
  readonly key: number
  readonly records: number
  readonly place: number
  readonly at_ms: number
}

type Series = {
  readonly oldest: StatementSync
  readonly newest: StatementSync
  /**
   * Prepares to delete everything up to and including a key, and returns what does so. Only the latter runs while
   * commits wait.
   */
  readonly remove: (key: number) => () => void
}

export function maintenanceStore(connection: Connection): RetentionStore {
  const log = logSeries(connection)
  const history = historySeries(connection)
  const pruneCandles = candlePruner(connection)
  const events = eventSeries(connection)
  const inputs = numberedSeries(connection, 'input')
  const readBounds = boundsReader(connection)
  const historySize = connection.prepare(`
    SELECT count(*) AS prices, coalesce(min(at_ms), 0) AS fromMs, coalesce(max(at_ms), 0) AS toMs
    FROM token_history`)
  const setHead = connection.prepare('UPDATE head SET epoch = ?, next = ?')

  return {
    async prune(limits) {
      assertPruneLimits(limits)
      const { historyDays = null, replayed } = limits
      const old = { ...limits, oldestMs: oldestMs(limits) }
      const pruned = {
        records: await pruneSeries(connection, log(historyDays !== null), old, replayed),
        events: await pruneSeries(connection, events, old),
        inputs: await pruneSeries(connection, inputs, old),
      }
      await pruneSeries(connection, history, { ...limits, records: 0, oldestMs: oldestHistoryMs(limits) })
      await pruneCandles(limits)
      return pruned
    },

    async readHistorySize() {
      return connection.query(
        () =>
          historySize.get() as { readonly prices: number; readonly fromMs: number; readonly toMs: number },
      )
    },

    async startEpoch() {
      return connection.write(() => {
        const epoch = readBounds().epoch + 1
        setHead.run(epoch, epochStart(epoch) + 1)
        return readBounds()
      })
    },
  }
}

function logSeries(connection: Connection): (isHistoryKept: boolean) => Series {
  const rows = connection.prepare(
    'SELECT last, count, chain_id AS chainId, at_ms AS timeMs, body, packed FROM log WHERE last <= ? ORDER BY last',
  )
  const keep = connection.prepare(
    'INSERT OR IGNORE INTO kept_state (last, count, at_ms, packed) VALUES (?, ?, ?, ?)',
  )
  const removeLog = connection.prepare('DELETE FROM log WHERE last <= ?')
  const removeHistory = historyRemover(connection)
  const oldest = connection.prepare(
    'SELECT last AS key, count AS records, written AS place, at_ms FROM log ORDER BY last LIMIT ?',
  )
  const newest = connection.prepare('SELECT written AS place FROM head')
  return isHistoryKept => ({
    oldest,
    newest,
    remove(key) {
      const kept = isHistoryKept ? keptRows(rows.all(key) as unknown as readonly DeletedRow[]) : []
      return () => {
        for (const { last, count, timeMs, packed } of kept) keep.run(last, count, timeMs, packed)
        removeLog.run(key)
        // History refers to the log and is deleted with it, unless its states are kept.
        if (!isHistoryKept) removeHistory(key)
      }
    },
  })
}

/** Candles whose prices are all gone. */
function candlePruner(connection: Connection): (limits: PruneLimits) => Promise<void> {
  const chains = connection.prepare('SELECT chain_id AS chainId FROM position')
  const oldest = connection.prepare(
    'SELECT block_number AS block FROM token_history NOT INDEXED WHERE chain_id = ? ORDER BY sequence LIMIT 1',
  )
  const key = 'chain_id, token_address, interval_ms, from_ms'
  const remove = connection.prepare(`
    DELETE FROM candle WHERE (${key}) IN (SELECT ${key} FROM candle WHERE chain_id = ? AND top_block < ? LIMIT ?)`)
  return async ({ batch, signal }) => {
    for (const { chainId } of connection.query(() => chains.all()) as unknown as { chainId: number }[]) {
      const row = connection.query(() => oldest.get(chainId)) as { readonly block: number } | undefined
      if (row === undefined) continue
      for (let removed = batch; removed === batch; ) {
        signal?.throwIfAborted()
        removed = await connection.write(() =>
          Number(remove.run(chainId, row.block - REACH_BLOCKS, batch).changes),
        )
        await nextTurn()
      }
    }
  }
}

/** Points, and what withdrew them. */
function historyRemover(connection: Connection): (last: number) => void {
  const removePoints = connection.prepare('DELETE FROM token_history WHERE sequence <= ?')
  const removeWithdrawals = connection.prepare('DELETE FROM withdrawal WHERE sequence <= ?')
  return last => {
    removePoints.run(last)
    removeWithdrawals.run(last)
  }
}

/** Kept states, and with them the points of history that refer to them. */
function historySeries(connection: Connection): Series {
  const removeStates = connection.prepare('DELETE FROM kept_state WHERE last <= ?')
  const removeHistory = historyRemover(connection)
  return {
    oldest: connection.prepare(
      'SELECT last AS key, count AS records, 0 AS place, at_ms FROM kept_state ORDER BY last LIMIT ?',
    ),
    newest: connection.prepare('SELECT 0 AS place'),
    remove: last => () => {
      removeStates.run(last)
      removeHistory(last)
    },
  }
}

function numberedSeries(connection: Connection, table: 'pool_event' | 'input'): Series {
  const remove = connection.prepare(`DELETE FROM ${table} WHERE id <= ?`)
  return {
    oldest: connection.prepare(
      `SELECT id AS key, 1 AS records, id AS place, at_ms FROM ${table} ORDER BY id LIMIT ?`,
    ),
    newest: connection.prepare(`SELECT max(id) AS place FROM ${table}`),
    remove: id => () => void remove.run(id),
  }
}

/** Events, and the blocks that no event refers to any more. */
function eventSeries(connection: Connection): Series {
  const events = numberedSeries(connection, 'pool_event')
  const removeBlocks = connection.prepare(`
    DELETE FROM event_block
    WHERE id IN (SELECT CAST(block_hash AS INTEGER) FROM pool_event WHERE id <= :last)
      AND NOT EXISTS (
        SELECT 1 FROM pool_event
        WHERE chain_id = event_block.chain_id AND block_hash = CAST(event_block.id AS TEXT) AND id > :last)`)
  return {
    ...events,
    remove: last => () => {
      removeBlocks.run({ last })
      events.remove(last)()
    },
  }
}

type Old = PruneLimits & { readonly oldestMs: number }

/** Deletes step by step, yielding the event loop and the write lock in between. */
async function pruneSeries(
  connection: Connection,
  series: Series,
  limits: Old,
  most: () => number | null = () => null,
): Promise<number> {
  let pruned = 0
  for (;;) {
    limits.signal?.throwIfAborted()
    const step = connection.read(() => {
      const run = oldestPast(series, limits, most() ?? Number.MAX_SAFE_INTEGER)
      return run === null ? null : { records: run.records, remove: series.remove(run.key) }
    })
    if (step === null) return pruned
    await connection.write(step.remove)
    pruned += step.records
    await nextTurn()
  }
}

/** The longest run of oldest rows up to `most` that are past both limits, of at most a batch and at least one row. */
function oldestPast(series: Series, limits: Old, most: number) {
  const { records, batch } = limits
  const newest = (series.newest.get() as { place: number | null }).place ?? 0
  let run: { readonly key: number; readonly records: number } | null = null
  for (const row of series.oldest.iterate(batch) as unknown as Iterable<OldRow>) {
    if (row.key > most || row.place > newest - records || row.at_ms > limits.oldestMs) break
    const total: number = (run?.records ?? 0) + row.records
    if (run !== null && total > batch) break
    run = { key: row.key, records: total }
  }
  return run
}
