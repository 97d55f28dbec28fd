/** Stored candles: rows of a table, written beside the commits in transactions of a few rows. */
import type { CandleBuildStore, CandleChange, CandleRow, CandleStore, TokenPoint } from '../candles.ts'
import type { HistoryPoint } from '../history.ts'
import type { Sequence } from '../port.ts'
import { rowLimit } from '../rowLimit.ts'
import type { Withdrawal } from '../withdrawals.ts'
import type { Connection } from './connection.ts'

/** Candles per transaction: a commit that waits for one waits for milliseconds. */
const ROWS = 200
const POINT = 'sequence, at_ms AS atMs, block_number AS blockNumber, price, expires_at_ms AS expiresAtMs'

export function candleStore(connection: Connection): CandleStore & CandleBuildStore {
  const progress = connection.prepare('SELECT at FROM candle_progress')
  const candles = connection.prepare(`
    SELECT from_ms AS fromMs, open, high, low, close, records, top_block AS topBlock FROM candle
    WHERE chain_id = ? AND token_address = ? AND interval_ms = ? AND from_ms >= ? AND from_ms < ?
    ORDER BY from_ms LIMIT ?`)
  const tail = connection.prepare(`
    SELECT ${POINT} FROM token_history NOT INDEXED
    WHERE sequence > ? AND chain_id = ? AND token_address = ? ORDER BY sequence LIMIT ?`)
  const points = connection.prepare(`
    SELECT ${POINT}, chain_id AS chainId, token_address AS tokenAddress FROM token_history
    WHERE sequence > ? ORDER BY sequence LIMIT ?`)
  const withdrawals = connection.prepare(`
    SELECT sequence, at_ms AS atMs, block_number AS blockNumber, kept_hash AS keptHash, chain_id AS chainId
    FROM withdrawal WHERE sequence > ? AND sequence <= ? ORDER BY sequence`)
  const minutes = connection.prepare(`
    SELECT token_address AS tokenAddress, from_ms AS fromMs FROM candle
    WHERE chain_id = ? AND top_block >= ? AND interval_ms = 60000`)
  const write = changeWriter(connection)
  const at = () => (progress.get() as { readonly at: Sequence }).at
  let isBusy = false

  return {
    readCandlesAt: async () => connection.query(at),
    readCandles: async ({ chainId, tokenAddress, intervalMs }, { fromMs, toMs, limit }) =>
      connection.query(
        () =>
          candles.all(
            chainId,
            tokenAddress,
            intervalMs,
            fromMs,
            toMs,
            rowLimit(limit),
          ) as unknown as readonly CandleRow[],
      ),
    readTokenTail: async (chainId, tokenAddress, after, limit) =>
      connection.query(
        () => tail.all(after, chainId, tokenAddress, rowLimit(limit)) as unknown as readonly HistoryPoint[],
      ),
    readPointsAfter: async (after, limit) =>
      connection.query(() => points.all(after, rowLimit(limit)) as unknown as readonly TokenPoint[]),
    readWithdrawalsBetween: async (after, through) =>
      connection.query(
        () => withdrawals.all(after, through) as unknown as readonly (Withdrawal & { chainId: number })[],
      ),
    readCandlesFrom: async (chainId, blockNumber) =>
      connection.query(
        () =>
          minutes.all(chainId, blockNumber) as unknown as readonly { tokenAddress: string; fromMs: number }[],
      ),
    async changeCandles(next) {
      if (isBusy) return 'busy'
      isBusy = true
      try {
        const change = await next(connection.query(at))
        if (change === null) return 'idle'
        await write(change)
        return 'changed'
      } finally {
        isBusy = false
      }
    },
  }
}

/** The sequence moves last, so what an interruption leaves is only ahead of it. */
function changeWriter(connection: Connection): (change: CandleChange) => Promise<void> {
  const upsert = connection.prepare(`
    INSERT OR REPLACE INTO candle
      (chain_id, token_address, interval_ms, from_ms, open, high, low, close, records, top_block)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const remove = connection.prepare(
    'DELETE FROM candle WHERE chain_id = ? AND token_address = ? AND interval_ms = ? AND from_ms = ?',
  )
  const advance = connection.prepare('UPDATE candle_progress SET at = ?')
  return async ({ through, candles }) => {
    for (let from = 0; from < candles.length; from += ROWS)
      await connection.write(() => {
        for (const { chainId, tokenAddress, intervalMs, fromMs, row } of candles.slice(from, from + ROWS)) {
          const key = [chainId, tokenAddress, intervalMs, fromMs]
          if (row === null) remove.run(...key)
          else upsert.run(...key, row.open, row.high, row.low, row.close, row.records, row.topBlock)
        }
      })
    await connection.write(() => void advance.run(through))
  }
}
