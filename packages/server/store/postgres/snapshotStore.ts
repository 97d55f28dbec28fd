/** Current states for readers: pages by key, each from one commit. */
import type { PoolRow, Sequence, SnapshotStore, TokenRow, Verified } from '../port.ts'
import { rowLimit } from '../rowLimit.ts'
import { containing, MOST_MATCHES } from '../searchText.ts'
import { type Connection, type Query, statement } from './connection.ts'
import { decodeSaid } from './facts.ts'
import { HEAD } from './log.ts'
import { eventReader } from './poolEvents.ts'
import { readQuote } from './quoteBooks.ts'

/** Pools of a selection with their state and the prices of both sides. */
const withStates = (selection: string) =>
  statement(`
    SELECT pool.chain_id AS "chainId", pool.pool_address AS "poolAddress", pool.family,
      pool.deployment_id AS "deploymentId", pool.fee_ppm AS "feePpm", pool.token0, pool.token1,
      pool.created_block AS "createdBlock", pool_state.state, pool_state.sequence,
      price0.price AS price0, price1.price AS price1
    FROM (${selection}) AS pool
    LEFT JOIN pool_state
      ON pool_state.chain_id = pool.chain_id AND pool_state.pool_address = pool.pool_address
    LEFT JOIN token_price AS price0
      ON price0.chain_id = pool.chain_id AND price0.token_address = pool.token0
    LEFT JOIN token_price AS price1
      ON price1.chain_id = pool.chain_id AND price1.token_address = pool.token1
    ORDER BY pool.chain_id, pool.pool_address`)

/** A range over (chain, address): one chain is the range that ends with it. */
const IN_RANGE = '(chain_id, pool_address) > ($1, $2) AND chain_id <= $3'
const IN_ORDER = 'ORDER BY chain_id, pool_address LIMIT $4'

const POOLS = withStates(`SELECT * FROM pool WHERE ${IN_RANGE} ${IN_ORDER}`)
const POOLS_OF_TOKEN = withStates(`
  SELECT * FROM pool WHERE token0 = $5 AND ${IN_RANGE}
  UNION ALL
  SELECT * FROM pool WHERE token1 = $5 AND ${IN_RANGE}
  ${IN_ORDER}`)
const POOL = withStates('SELECT * FROM pool WHERE chain_id = $1 AND pool_address = $2')
const POOLS_NAMED = withStates('SELECT * FROM pool WHERE pool_address = $1')

export const tokens = (rest: string) =>
  statement(`
    SELECT token.chain_id AS "chainId", token.token_address AS "tokenAddress", symbol, name, decimals, role,
      enrolled_at_ms AS "enrolledAtMs", price, sequence
    FROM token LEFT JOIN token_price USING (chain_id, token_address) ${rest}`)
const TOKENS = tokens('WHERE chain_id = $1 AND token_address > $2 ORDER BY token_address LIMIT $3')
const TOKEN = tokens('WHERE chain_id = $1 AND token_address = $2')
const TOKENS_NAMED = tokens('WHERE token_address = $1 ORDER BY chain_id')

const HEALTH = statement('SELECT health FROM feed_health WHERE chain_id = $1')

const MATCHING = statement(`
  SELECT matched.* FROM (
    SELECT token.chain_id AS "chainId", token.token_address AS "tokenAddress", symbol, name, decimals, role,
      enrolled_at_ms AS "enrolledAtMs", price, sequence
    FROM token LEFT JOIN token_price USING (chain_id, token_address)
    WHERE symbol ILIKE $2 OR name ILIKE $2
    ORDER BY lower(symbol) = lower($1) DESC, length(symbol), token.chain_id, token.token_address
    LIMIT ${MOST_MATCHES}) AS matched
  ORDER BY (
    SELECT coalesce(sum(substring(state from '"effective_microusd":"(\\d+)"')::numeric), 0)
    FROM pool JOIN pool_state USING (chain_id, pool_address)
    WHERE pool.chain_id = matched."chainId"
      AND (token0 = matched."tokenAddress" OR token1 = matched."tokenAddress")) DESC,
    matched."chainId", matched."tokenAddress"
  LIMIT $3`)
const DEPTHS = statement(`
  SELECT (
    SELECT sum(substring(state from '"effective_microusd":"(\\d+)"')::numeric)::text
    FROM pool JOIN pool_state USING (chain_id, pool_address)
    WHERE pool.chain_id = $1 AND (token0 = wanted.token OR token1 = wanted.token)) AS depth
  FROM unnest($2::text[]) WITH ORDINALITY AS wanted (token, place) ORDER BY wanted.place`)
const PROVEN = statement(
  `SELECT substring(text from '"proven":(\\[[^]]*\\])') AS proven FROM entity WHERE chain_id = $1 AND key = 'chain'`,
)
const VERIFIED = statement(`
  SELECT substr(key, 6) AS "poolAddress", substring(text from '"verifiedMs":(\\d+)')::bigint AS "verifiedMs",
    substring(text from '"verifiedNumber":(\\d+)')::bigint AS "verifiedNumber",
    substring(text from '"trackedSinceMs":(\\d+)')::bigint + greatest(0,
      coalesce(substring(text from '"readMs":(\\d+)')::bigint, 0) - substring(text from '"trackedSinceMs":(\\d+)')::bigint)
      AS "followedSinceMs",
    nullif(substring(text from '"createdMs":(\\d+|null)'), 'null')::bigint AS "createdMs"
  FROM entity WHERE chain_id = $1 AND key = ANY ($2::text[])`)

type JoinedPool = Omit<PoolRow, 'prices'> & { readonly price0: string | null; readonly price1: string | null }

export function snapshotStore(connection: Connection): SnapshotStore {
  return {
    readPools(wanted) {
      return connection.read(async query => ({
        pools: await poolPage(query, wanted),
        snapshotSequence: await readHead(query),
      }))
    },
    async readPool(chainId, poolAddress) {
      const [row] = await connection.query<JoinedPool>(POOL, [chainId, poolAddress])
      return row === undefined ? null : poolRow(row)
    },
    readEvents: eventReader(connection).readEvents,
    async readTokens({ chainId, after, limit }) {
      const rows = await connection.query<TokenRow>(TOKENS, [chainId, after ?? '', rowLimit(limit)])
      return rows.map(tokenRow)
    },
    async readToken(chainId, tokenAddress) {
      const [row] = await connection.query<TokenRow>(TOKEN, [chainId, tokenAddress])
      return row === undefined ? null : tokenRow(row)
    },
    async readQuote(chainId, tokenAddress) {
      return readQuote(connection.query, chainId, tokenAddress)
    },
    search(address) {
      return connection.read(async query => ({
        tokens: (await query<TokenRow>(TOKENS_NAMED, [address])).map(tokenRow),
        pools: (await query<JoinedPool>(POOLS_NAMED, [address])).map(poolRow),
      }))
    },
    async searchTokens(text, limit) {
      const rows = await connection.query<TokenRow>(MATCHING, [text, containing(text), rowLimit(limit)])
      return rows.map(tokenRow)
    },
    async readDepths(chainId, wanted) {
      const rows = await connection.query<{ depth: string | null }>(DEPTHS, [chainId, wanted])
      return rows.map(({ depth }) => depth)
    },
    readVerified(chainId, wanted) {
      return connection.read(async query => {
        const [chain] = await query<{ proven: string | null }>(PROVEN, [chainId])
        const keys = wanted.map(pool => `pool/${pool}`)
        return {
          proven: chain?.proven ?? null,
          pools: await query<Verified['pools'][number]>(VERIFIED, [chainId, keys]),
        }
      })
    },
    async readHealth(chainId) {
      const [row] = await connection.query<{ health: string }>(HEALTH, [chainId])
      return row?.health ?? null
    },
  }
}

async function poolPage(
  query: Query,
  { chainId, tokenAddress, after, limit }: Parameters<SnapshotStore['readPools']>[0],
): Promise<PoolRow[]> {
  const bounds = [
    after?.chainId ?? chainId ?? 0,
    after?.poolAddress ?? '',
    chainId ?? Number.MAX_SAFE_INTEGER,
    rowLimit(limit),
  ]
  const rows =
    tokenAddress === null
      ? await query<JoinedPool>(POOLS, bounds)
      : await query<JoinedPool>(POOLS_OF_TOKEN, [...bounds, tokenAddress])
  return rows.map(poolRow)
}

async function readHead(query: Query): Promise<Sequence> {
  const [row] = await query<{ head: Sequence }>(HEAD)
  return (row as { head: Sequence }).head
}

const poolRow = ({ price0, price1, ...row }: JoinedPool): PoolRow => ({
  ...row,
  prices: { token0: price0, token1: price1 },
})

export const tokenRow = (row: TokenRow): TokenRow => ({
  ...row,
  symbol: decodeSaid(row.symbol),
  name: decodeSaid(row.name),
})
