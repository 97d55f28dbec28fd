/**
 * Retention and epochs. Records are deleted from the oldest without a gap, so that everything above the oldest retained
 * sequence can be replayed.
 */
import type { StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { epochStart } from '../epoch.ts'
import { assertPruneLimits, type MaintenanceStore, type PruneLimits } from '../maintenance.ts'
import type { Connection } from './connection.ts'
import { boundsReader } from './log.ts'

const HOUR_MS = 3_600_000

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
  /** Deletes everything up to and including a key. */
  readonly remove: (key: number) => void
}

export function maintenanceStore(connection: Connection): MaintenanceStore {
  const removeLog = connection.prepare('DELETE FROM log WHERE last <= ?')
  const removeHistory = connection.prepare('DELETE FROM token_history WHERE sequence <= ?')
  const log: Series = {
    oldest: connection.prepare(
      'SELECT last AS key, count AS records, written AS place, at_ms FROM log ORDER BY last LIMIT ?',
    ),
    newest: connection.prepare('SELECT written AS place FROM head'),
    remove(last) {
      removeLog.run(last)
      // History refers to the log and is deleted with it.
      removeHistory.run(last)
    },
  }
  const events = numberedSeries(connection, 'pool_event')
  const inputs = numberedSeries(connection, 'input')
  const readBounds = boundsReader(connection)
  const setHead = connection.prepare('UPDATE head SET epoch = ?, next = ?')

  return {
    async prune(limits) {
      assertPruneLimits(limits)
      return {
        records: await pruneSeries(connection, log, limits, limits.replayed),
        events: await pruneSeries(connection, events, limits),
        inputs: await pruneSeries(connection, inputs, limits),
      }
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

function numberedSeries(connection: Connection, table: 'pool_event' | 'input'): Series {
  const remove = connection.prepare(`DELETE FROM ${table} WHERE id <= ?`)
  return {
    oldest: connection.prepare(
      `SELECT id AS key, 1 AS records, id AS place, at_ms FROM ${table} ORDER BY id LIMIT ?`,
    ),
    newest: connection.prepare(`SELECT max(id) AS place FROM ${table}`),
    remove: id => void remove.run(id),
  }
}

/** Deletes step by step, yielding the event loop and the write lock in between. */
async function pruneSeries(
  connection: Connection,
  series: Series,
  limits: PruneLimits,
  most: () => number | null = () => null,
): Promise<number> {
  let pruned = 0
  for (;;) {
    limits.signal?.throwIfAborted()
    const step = connection.read(() => oldestPast(series, limits, most() ?? Number.MAX_SAFE_INTEGER))
    if (step === null) return pruned
    await connection.write(() => series.remove(step.key))
    pruned += step.records
    await nextTurn()
  }
}

/** The longest run of oldest rows up to `most` that are past both limits, of at most a batch and at least one row. */
function oldestPast(series: Series, { nowMs, hours, records, batch }: PruneLimits, most: number) {
  const newest = (series.newest.get() as { place: number | null }).place ?? 0
  let run: { readonly key: number; readonly records: number } | null = null
  for (const row of series.oldest.iterate(batch) as unknown as Iterable<OldRow>) {
    if (row.key > most || row.place > newest - records || row.at_ms > nowMs - hours * HOUR_MS) break
    const total: number = (run?.records ?? 0) + row.records
    if (run !== null && total > batch) break
    run = { key: row.key, records: total }
  }
  return run
}
