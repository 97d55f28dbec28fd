/**
 * History of tokens: points in a table of their own, states from the log rows they refer to, or from the rows that keep
 * them when those are gone.
 */
import { envelopeState } from '../envelope.ts'
import {
  GAP_KEYS,
  gapsOf,
  type HistoryPoint,
  type HistoryRow,
  type HistoryStore,
  type PointSaid,
  type PriceThen,
  type TokenRange,
} from '../history.ts'
import { statesIn } from '../keptStates.ts'
import { linesOf, type RowBody } from '../logRow.ts'
import type { Sequence } from '../port.ts'
import { rowLimit } from '../rowLimit.ts'
import { type Connection, type Query, statement } from './connection.ts'

const POINT = `
  SELECT sequence, at_ms AS "atMs", block_number AS "blockNumber", price, expires_at_ms AS "expiresAtMs"
  FROM token_history
  WHERE chain_id = $1 AND token_address = $2`
const RANGE = statement(`
  ${POINT} AND (at_ms, sequence) > ($3, $4) AND at_ms < $5 ORDER BY at_ms, sequence LIMIT $6`)
const AT_TIME = statement(`${POINT} AND at_ms <= $3 ORDER BY at_ms DESC, sequence DESC LIMIT 1`)
const AT_BLOCK = statement(`${POINT} AND block_number <= $3 ORDER BY sequence DESC LIMIT 1`)
const AT_SEQUENCE = statement(`${POINT} AND sequence <= $3 ORDER BY sequence DESC LIMIT 1`)

const MANY_AT_TIME = statement(`
  SELECT point.* FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS wanted (token, ms, place)
  LEFT JOIN LATERAL (
    SELECT at_ms AS "atMs", price, expires_at_ms AS "expiresAtMs" FROM token_history
    WHERE chain_id = $1 AND token_address = wanted.token AND at_ms <= wanted.ms
    ORDER BY at_ms DESC, sequence DESC LIMIT 1) AS point ON true
  ORDER BY wanted.place`)

const GAPS = statement('SELECT text FROM entity WHERE chain_id = $1 AND key >= $2 AND key < $3')

/** Each row of the log once, however many of the sequences it contains. */
const ROWS = statement(`
  SELECT DISTINCT found.last - found.count + 1 AS first, found.body, found.packed
  FROM unnest($1::bigint[]) AS wanted (sequence)
  CROSS JOIN LATERAL (SELECT last, count, body, packed FROM log WHERE last >= wanted.sequence ORDER BY last LIMIT 1) AS found`)

const KEPT = statement(`
  SELECT DISTINCT found.last, found.packed
  FROM unnest($1::bigint[]) AS wanted (sequence)
  CROSS JOIN LATERAL (SELECT last, packed FROM kept_state WHERE last >= wanted.sequence ORDER BY last LIMIT 1) AS found`)

const INSERT = statement(`
  INSERT INTO token_history (chain_id, sequence, token_address, at_ms, block_number, price, expires_at_ms)
  SELECT $1, row.*
  FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[]) AS row`)

export function historyStore(connection: Connection): HistoryStore {
  return {
    async readGaps(chainId) {
      const rows = await connection.query<{ text: string }>(GAPS, [chainId, GAP_KEYS.from, GAP_KEYS.below])
      return gapsOf(rows.map(({ text }) => text))
    },
    readTokenPoints: async query => readPoints(connection.query, query),
    readTokenHistory: wanted =>
      connection.read(async query => withStates(query, await readPoints(query, wanted))),
    readTokenAt(chainId, tokenAddress, moment) {
      const [asked, value] =
        'ms' in moment
          ? [AT_TIME, moment.ms]
          : 'block' in moment
            ? [AT_BLOCK, moment.block]
            : [AT_SEQUENCE, moment.sequence]
      return connection.read(async query => {
        const points = await query<HistoryPoint>(asked, [chainId, tokenAddress, value])
        return (await withStates(query, points))[0] ?? null
      })
    },
    async readPricesAt(chainId, moments) {
      const rows = await connection.query<PriceThen | { readonly atMs: null }>(MANY_AT_TIME, [
        chainId,
        moments.map(({ tokenAddress }) => tokenAddress),
        moments.map(({ ms }) => ms),
      ])
      return rows.map(row => (row.atMs === null ? null : row))
    },
  }
}

function readPoints(query: Query, { chainId, tokenAddress, fromMs, toMs, after, limit }: TokenRange) {
  // A cursor never leaves the range it was issued for.
  const start = after === null || after.atMs < fromMs ? { atMs: fromMs, sequence: -1 } : after
  const bounds = [chainId, tokenAddress, start.atMs, start.sequence, toMs, rowLimit(limit)]
  return query<HistoryPoint>(RANGE, bounds)
}

async function withStates(query: Query, points: readonly HistoryPoint[]): Promise<HistoryRow[]> {
  if (points.length === 0) return []
  const rows = await query<RowBody & { first: Sequence }>(ROWS, [points.map(({ sequence }) => sequence)])
  const envelopes = new Map<Sequence, string>()
  for (const { first, ...row } of rows)
    for (const [at, envelope] of linesOf(row).entries()) envelopes.set(first + at, envelope)
  const gone = points.filter(({ sequence }) => !envelopes.has(sequence))
  const kept =
    gone.length === 0 ? [] : await query<{ packed: Uint8Array }>(KEPT, [gone.map(({ sequence }) => sequence)])
  const states = new Map<Sequence, string>()
  for (const { packed } of kept) for (const [sequence, state] of statesIn(packed)) states.set(sequence, state)
  return points.map(point => {
    const envelope = envelopes.get(point.sequence)
    const state = envelope === undefined ? states.get(point.sequence) : envelopeState(envelope)
    return { ...point, state: state as string }
  })
}

/** A token's record with its sequence. */
export type Published = {
  readonly sequence: Sequence
  readonly tokenAddress: string
  readonly point: PointSaid
}

/** Call inside a commit. */
export async function writeHistory(
  query: Query,
  chainId: number,
  published: readonly Published[],
): Promise<void> {
  if (published.length === 0) return
  const points = published.map(({ point }) => point)
  await query(INSERT, [
    chainId,
    published.map(({ sequence }) => sequence),
    published.map(({ tokenAddress }) => tokenAddress),
    points.map(({ atMs }) => atMs),
    points.map(({ blockNumber }) => blockNumber),
    points.map(({ price }) => price),
    points.map(({ expiresAtMs }) => expiresAtMs),
  ])
}
