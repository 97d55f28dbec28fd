/**
 * Remote calls between processes through the database they share: no port to open, no secret to keep, and the holder of
 * the lease finds its requests without configuration. A notification wakes the other side; both sides also poll.
 */
import type { Answer, RpcRequest, RpcStore } from '../cluster.ts'
import { type Connection, statement } from './connection.ts'

export const RPC_CHANNEL = 'assay_mail'

const POST = statement(`
  WITH posted AS (
    INSERT INTO letter (chain_id, asker, method, args, until)
    VALUES ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 millisecond') RETURNING id
  )
  SELECT id, pg_notify('${RPC_CHANNEL}', '') FROM posted`)
const COLLECT = statement(`
  UPDATE letter SET taken = held.generation
  FROM unnest($1::bigint[], $2::bigint[]) AS held (chain_id, generation)
  WHERE letter.id IN (
    SELECT open.id FROM letter AS open
    JOIN unnest($1::bigint[], $2::bigint[]) AS mine (chain_id, generation) USING (chain_id)
    WHERE open.result IS NULL AND open.failure IS NULL AND open.taken < mine.generation
      AND open.until > clock_timestamp()
    ORDER BY open.id LIMIT $3
    FOR UPDATE OF open SKIP LOCKED
  ) AND letter.chain_id = held.chain_id
  RETURNING letter.id, letter.chain_id AS "chainId", letter.method, letter.args`)
const ANSWER = statement(`
  WITH answered AS (UPDATE letter SET result = $2, failure = $3 WHERE id = $1 RETURNING asker)
  SELECT pg_notify('${RPC_CHANNEL}', asker) FROM answered`)
const RECEIVE = statement(`
  DELETE FROM letter WHERE asker = $1 AND (result IS NOT NULL OR failure IS NOT NULL)
  RETURNING id, result, failure`)
// A minute longer than any caller waits.
const DISCARD = statement("DELETE FROM letter WHERE until < clock_timestamp() - interval '1 minute'")

export function rpcStore(connection: Connection): RpcStore {
  return {
    async post({ chainId, asker, method, args, patienceMs }) {
      const [row] = await connection.query<{ id: number }>(POST, [chainId, asker, method, args, patienceMs])
      return (row as { id: number }).id
    },
    collect: (leases, most) =>
      connection.query<RpcRequest>(COLLECT, [
        leases.map(({ chainId }) => chainId),
        leases.map(({ generation }) => generation),
        most,
      ]),
    async answer({ id, result, failure }) {
      await connection.query(ANSWER, [id, result, failure])
    },
    receive: asker => connection.query<Answer>(RECEIVE, [asker]),
    async discard() {
      await connection.query(DISCARD)
    },
  }
}
