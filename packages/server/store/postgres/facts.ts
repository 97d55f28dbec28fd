/** Facts about pools and tokens that never or rarely change, for the snapshot. */
import type { StepCommit } from '../port.ts'
import { type Query, statement } from './connection.ts'

const DELETE_POOLS = statement('DELETE FROM pool WHERE chain_id = $1 AND pool_address = ANY ($2::text[])')
const UPSERT_POOLS = statement(`
  INSERT INTO pool
    (chain_id, pool_address, family, deployment_id, fee_ppm, token0, token1, created_block)
  SELECT $1, row.*
  FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::bigint[]) AS row
  ON CONFLICT (chain_id, pool_address) DO UPDATE SET
    family = excluded.family, deployment_id = excluded.deployment_id, fee_ppm = excluded.fee_ppm,
    token0 = excluded.token0, token1 = excluded.token1, created_block = excluded.created_block`)
const UPSERT_TOKENS = statement(`
  INSERT INTO token (chain_id, token_address, symbol, name, decimals, role, enrolled_at_ms)
  SELECT $1, row.* FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[]) AS row
  ON CONFLICT (chain_id, token_address) DO UPDATE SET
    symbol = excluded.symbol, name = excluded.name, decimals = excluded.decimals, role = excluded.role,
    enrolled_at_ms = excluded.enrolled_at_ms`)

export async function writeFacts(query: Query, commit: StepCommit): Promise<void> {
  const { chainId } = commit
  // A pool that is removed and returns in one step, through a reorg, exists in the end.
  if (commit.removedPools.length > 0) await query(DELETE_POOLS, [chainId, commit.removedPools])
  // One statement may touch a row only once: of two facts about the same subject, the later one wins.
  const pools = [...new Map(commit.pools.map(pool => [pool.poolAddress, pool])).values()]
  if (pools.length > 0)
    await query(UPSERT_POOLS, [
      chainId,
      pools.map(({ poolAddress }) => poolAddress),
      pools.map(({ family }) => family),
      pools.map(({ deploymentId }) => deploymentId),
      pools.map(({ feePpm }) => feePpm),
      pools.map(({ token0 }) => token0),
      pools.map(({ token1 }) => token1),
      pools.map(({ createdBlock }) => createdBlock),
    ])
  const tokens = [...new Map(commit.tokens.map(token => [token.tokenAddress, token])).values()]
  if (tokens.length > 0)
    await query(UPSERT_TOKENS, [
      chainId,
      tokens.map(({ tokenAddress }) => tokenAddress),
      tokens.map(({ symbol }) => encodeSaid(symbol)),
      tokens.map(({ name }) => encodeSaid(name)),
      tokens.map(({ decimals }) => decimals),
      tokens.map(({ role }) => role),
      tokens.map(({ enrolledAtMs }) => enrolledAtMs),
    ])
}

/** A text reported by a contract, as JSON text: it may contain a NUL, which a PostgreSQL text may not. */
export const encodeSaid = (text: string | null): string | null =>
  text === null ? null : JSON.stringify(text)

export const decodeSaid = (text: string | null): string | null =>
  text === null ? null : (JSON.parse(text) as string)
