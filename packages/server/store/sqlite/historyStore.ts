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
import type { Sequence } from '../port.ts'
import { statesIn } from '../keptStates.ts'
import type { Connection } from './connection.ts'
import { recordReader } from './log.ts'
import { rowLimit } from '../rowLimit.ts'

const POINT = `
  SELECT sequence, at_ms AS atMs, block_number AS blockNumber, price, expires_at_ms AS expiresAtMs
  FROM token_history
  WHERE chain_id = :chain AND token_address = :token`

export function historyStore(connection: Connection): HistoryStore {
  const range = connection.prepare(`
    ${POINT} AND (at_ms, sequence) > (:atMs, :sequence) AND at_ms < :toMs
    ORDER BY at_ms, sequence LIMIT :limit`)
  const atTime = connection.prepare(
    `${POINT} AND at_ms <= :moment ORDER BY at_ms DESC, sequence DESC LIMIT 1`,
  )
  const atBlock = connection.prepare(`${POINT} AND block_number <= :moment ORDER BY sequence DESC LIMIT 1`)
  const atSequence = connection.prepare(`${POINT} AND sequence <= :moment ORDER BY sequence DESC LIMIT 1`)
  const manyAtTime = connection.prepare(`
    SELECT wanted.key AS place, point.at_ms AS atMs, point.price, point.expires_at_ms AS expiresAtMs
    FROM json_each(:moments) AS wanted JOIN token_history AS point ON point.sequence = (
      SELECT sequence FROM token_history
      WHERE chain_id = :chain AND token_address = wanted.value ->> 0 AND at_ms <= wanted.value ->> 1
      ORDER BY at_ms DESC, sequence DESC LIMIT 1)`)
  const gaps = connection.prepare(
    'SELECT text FROM entity WHERE chain_id = :chain AND key >= :from AND key < :below',
  )
  const readState = stateReader(connection)

  const pointsOf = ({ chainId, tokenAddress, fromMs, toMs, after, limit }: TokenRange): HistoryPoint[] => {
    // A cursor never leaves the range it was issued for.
    const start = after === null || after.atMs < fromMs ? { atMs: fromMs, sequence: -1 } : after
    return range.all({
      chain: chainId,
      token: tokenAddress,
      atMs: start.atMs,
      sequence: start.sequence,
      toMs,
      limit: rowLimit(limit),
    }) as unknown as HistoryPoint[]
  }
  const withState = (point: HistoryPoint): HistoryRow => ({ ...point, state: readState(point.sequence) })

  return {
    readGaps: async chainId =>
      connection.query(() => {
        const rows = gaps.all({ chain: chainId, ...GAP_KEYS }) as unknown as readonly { text: string }[]
        return gapsOf(rows.map(({ text }) => text))
      }),
    readTokenPoints: async query => connection.query(() => pointsOf(query)),
    readTokenHistory: async query => connection.read(() => pointsOf(query).map(withState)),
    async readTokenAt(chainId, tokenAddress, moment) {
      const [statement, value] =
        'ms' in moment
          ? [atTime, moment.ms]
          : 'block' in moment
            ? [atBlock, moment.block]
            : [atSequence, moment.sequence]
      return connection.read(() => {
        const point = statement.get({ chain: chainId, token: tokenAddress, moment: value }) as
          | HistoryPoint
          | undefined
        return point === undefined ? null : withState(point)
      })
    },
    async readPricesAt(chainId, moments) {
      const wanted = JSON.stringify(moments.map(({ tokenAddress, ms }) => [tokenAddress, ms]))
      const rows = connection.query(() => manyAtTime.all({ chain: chainId, moments: wanted }))
      return inPlaces(rows as unknown as readonly Placed[], moments.length)
    },
  }
}

/** Call inside a transaction: the state of a point, wherever it is now. */
function stateReader(connection: Connection): (sequence: Sequence) => string {
  const readRecord = recordReader(connection)
  const rowOf = connection.prepare('SELECT packed FROM kept_state WHERE last >= ? ORDER BY last LIMIT 1')
  // States of a page are close together, often in the same row.
  let read: ReadonlyMap<Sequence, string> = new Map()
  return sequence => {
    const envelope = readRecord(sequence)
    if (envelope !== null) return envelopeState(envelope)
    if (!read.has(sequence)) read = statesIn((rowOf.get(sequence) as { packed: Uint8Array }).packed)
    return read.get(sequence) as string
  }
}

type Placed = PriceThen & { readonly place: number }

function inPlaces(rows: readonly Placed[], places: number): (PriceThen | null)[] {
  const found = Array.from<PriceThen | null>({ length: places }).fill(null)
  for (const { place, ...then } of rows) found[place] = then
  return found
}

/** Call inside a commit: records a token's record under its sequence. */
export function historyWriter(
  connection: Connection,
): (chainId: number, tokenAddress: string, sequence: Sequence, point: PointSaid) => void {
  const insert = connection.prepare(`
    INSERT INTO token_history (sequence, chain_id, token_address, at_ms, block_number, price, expires_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?)`)
  return (chainId, tokenAddress, sequence, { atMs, blockNumber, price, expiresAtMs }) => {
    insert.run(sequence, chainId, tokenAddress, atMs, blockNumber, price, expiresAtMs)
  }
}
