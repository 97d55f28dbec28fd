/**
 * Retention and epochs. Records are deleted from the oldest without a gap, so that everything above the oldest retained
 * sequence can be replayed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { epochStart } from '../epoch.ts'
import { assertPruneLimits, type MaintenanceStore, type PruneLimits } from '../maintenance.ts'
import type { Claimed } from './claimed.ts'
import { type Connection, type Query, type Statement, statement } from './connection.ts'
import { readBounds, takeSequences, TIMELINE } from './log.ts'

const HOUR_MS = 3_600_000

/** A row that may be deleted: its key, and its number of records. */
type OldRow = { readonly key: number; readonly records: number; readonly at_ms: number }

/** `kept` finds the key above which all rows belong to the newest ones to keep. */
type Series = { readonly kept: Statement; readonly oldest: Statement; readonly remove: Statement }

const LOG: Series = {
  kept: statement(
    'SELECT coalesce(max(last), 0) AS key FROM log, head WHERE log.written <= head.written - $1::bigint',
  ),
  oldest: statement(
    'SELECT last AS key, count AS records, at_ms FROM log WHERE last <= $1 ORDER BY last LIMIT $2',
  ),
  // History refers to the log and is deleted with it.
  remove: statement(`
    WITH pruned AS (DELETE FROM log WHERE last <= $1) DELETE FROM token_history WHERE sequence <= $1`),
}
const numbered = (table: 'pool_event' | 'input'): Series => ({
  kept: statement(
    `SELECT coalesce((SELECT id FROM ${table} ORDER BY id DESC OFFSET $1::bigint LIMIT 1), 0) AS key`,
  ),
  oldest: statement(
    `SELECT id AS key, 1 AS records, at_ms FROM ${table} WHERE id <= $1 ORDER BY id LIMIT $2`,
  ),
  remove: statement(`DELETE FROM ${table} WHERE id <= $1`),
})
const EVENTS = numbered('pool_event')
const INPUTS = numbered('input')

const SET_EPOCH = statement(`UPDATE head SET epoch = $1, next = $2, timeline = ${TIMELINE}`)

export function maintenanceStore(connection: Connection, { generation }: Claimed): MaintenanceStore {
  return {
    async prune(limits) {
      assertPruneLimits(limits)
      return {
        records: await pruneSeries(connection, LOG, limits, limits.replayed),
        events: await pruneSeries(connection, EVENTS, limits),
        inputs: await pruneSeries(connection, INPUTS, limits),
      }
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

/** Deletes step by step. It locks nothing that a commit writes, and a reader keeps its snapshot. */
async function pruneSeries(
  connection: Connection,
  series: Series,
  limits: PruneLimits,
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
    await connection.query(series.remove, [step.key])
    pruned += step.records
    await nextTurn()
    limits.signal?.throwIfAborted()
  }
}

/** The longest run of oldest rows that are past the time limit, of at most a batch and at least one row. */
function oldestPast(rows: readonly OldRow[], { nowMs, hours, batch }: PruneLimits) {
  let run: { readonly key: number; readonly records: number } | null = null
  for (const row of rows) {
    if (row.at_ms > nowMs - hours * HOUR_MS) break
    const total: number = (run?.records ?? 0) + row.records
    if (run !== null && total > batch) break
    run = { key: row.key, records: total }
  }
  return run
}
