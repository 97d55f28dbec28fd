/** Stored candles: rows of a table, written beside the commits. The row of their progress is locked by who builds them. */
import type { CandleBuildStore, CandleChange, CandleRow, CandleStore, TokenPoint } from '../candles.ts'
import type { HistoryPoint } from '../history.ts'
import type { Sequence } from '../port.ts'
import { rowLimit } from '../rowLimit.ts'
import type { Withdrawal } from '../withdrawals.ts'
import { type Connection, type Query, statement } from './connection.ts'

const POINT =
  'sequence, at_ms AS "atMs", block_number AS "blockNumber", price, expires_at_ms AS "expiresAtMs"'
const PROGRESS = statement('SELECT at FROM candle_progress')
const LOCKED = statement('SELECT at FROM candle_progress FOR UPDATE SKIP LOCKED')
const CANDLES = statement(`
  SELECT from_ms AS "fromMs", open, high, low, close, records, top_block AS "topBlock" FROM candle
  WHERE chain_id = $1 AND token_address = $2 AND interval_ms = $3 AND from_ms >= $4 AND from_ms < $5
  ORDER BY from_ms LIMIT $6`)
const TAIL = statement(`
  SELECT ${POINT} FROM token_history
  WHERE sequence > $1 AND chain_id = $2 AND token_address = $3 ORDER BY sequence LIMIT $4`)
const POINTS = statement(`
  SELECT ${POINT}, chain_id AS "chainId", token_address AS "tokenAddress" FROM token_history
  WHERE sequence > $1 ORDER BY sequence LIMIT $2`)
const WITHDRAWALS = statement(`
  SELECT sequence, at_ms AS "atMs", block_number AS "blockNumber", kept_hash AS "keptHash",
    chain_id AS "chainId"
  FROM withdrawal WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence`)
const MINUTES = statement(`
  SELECT token_address AS "tokenAddress", from_ms AS "fromMs" FROM candle
  WHERE chain_id = $1 AND top_block >= $2 AND interval_ms = 60000`)
const KEYS = 'unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]'
const UPSERT = statement(`
  INSERT INTO candle
    (chain_id, token_address, interval_ms, from_ms, open, high, low, close, records, top_block)
  SELECT * FROM ${KEYS}, $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::bigint[])
  ON CONFLICT (chain_id, token_address, interval_ms, from_ms) DO UPDATE SET
    open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close,
    records = excluded.records, top_block = excluded.top_block`)
const REMOVE = statement(`
  DELETE FROM candle USING ${KEYS}) AS gone (chain, token, length, start)
  WHERE chain_id = chain AND token_address = token AND interval_ms = length AND from_ms = start`)
const ADVANCE = statement('UPDATE candle_progress SET at = $1')

export const candleStore = (connection: Connection): CandleStore & CandleBuildStore => ({
  async readCandlesAt() {
    const [row] = await connection.query<{ at: Sequence }>(PROGRESS)
    return row?.at ?? 0
  },
  readCandles: ({ chainId, tokenAddress, intervalMs }, { fromMs, toMs, limit }) =>
    connection.query<CandleRow>(CANDLES, [chainId, tokenAddress, intervalMs, fromMs, toMs, rowLimit(limit)]),
  readTokenTail: (chainId, tokenAddress, after, limit) =>
    connection.query<HistoryPoint>(TAIL, [after, chainId, tokenAddress, rowLimit(limit)]),
  readPointsAfter: (after, limit) => connection.query<TokenPoint>(POINTS, [after, rowLimit(limit)]),
  readWithdrawalsBetween: (after, through) =>
    connection.query<Withdrawal & { chainId: number }>(WITHDRAWALS, [after, through]),
  readCandlesFrom: (chainId, blockNumber) =>
    connection.query<{ tokenAddress: string; fromMs: number }>(MINUTES, [chainId, blockNumber]),
  changeCandles: next =>
    connection.write(async query => {
      const [locked] = await query<{ at: Sequence }>(LOCKED)
      if (locked === undefined) return 'busy'
      const change = await next(locked.at)
      if (change === null) return 'idle'
      await write(query, change)
      return 'changed'
    }),
})

async function write(query: Query, { through, candles }: CandleChange): Promise<void> {
  const keysOf = (some: CandleChange['candles']) => [
    some.map(({ chainId }) => chainId),
    some.map(({ tokenAddress }) => tokenAddress),
    some.map(({ intervalMs }) => intervalMs),
    some.map(({ fromMs }) => fromMs),
  ]
  const gone = candles.filter(({ row }) => row === null)
  if (gone.length > 0) await query(REMOVE, keysOf(gone))
  const kept = candles.filter(({ row }) => row !== null)
  const rows = kept.map(({ row }) => row as CandleRow)
  if (rows.length > 0)
    await query(UPSERT, [
      ...keysOf(kept),
      rows.map(({ open }) => open),
      rows.map(({ high }) => high),
      rows.map(({ low }) => low),
      rows.map(({ close }) => close),
      rows.map(({ records }) => records),
      rows.map(({ topBlock }) => topBlock),
    ])
  await query(ADVANCE, [through])
}
