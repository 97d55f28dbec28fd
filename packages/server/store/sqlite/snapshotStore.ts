/** Current states for readers: pages by key, each from one commit. */
import type { PoolRow, SnapshotStore, TokenRow, Verified } from '../port.ts'
import type { Connection } from './connection.ts'
import { headReader } from './log.ts'
import { eventReader } from './poolEvents.ts'
import { quoteReader } from './quoteBooks.ts'
import { rowLimit } from '../rowLimit.ts'
import { containing, MOST_MATCHES } from '../searchText.ts'

const POOL_COLUMNS = `
  pool.chain_id, pool.pool_address, pool.family, pool.deployment_id, pool.fee_ppm, pool.token0, pool.token1,
  pool.created_block`

/** Pools of a selection with their state and the prices of both sides. */
const withStates = (selection: string) => `
  SELECT pool.chain_id AS chainId, pool.pool_address AS poolAddress, pool.family,
    pool.deployment_id AS deploymentId, pool.fee_ppm AS feePpm, pool.token0, pool.token1,
    pool.created_block AS createdBlock, pool_state.state, pool_state.sequence,
    price0.price AS price0, price1.price AS price1
  FROM (${selection}) AS pool
  LEFT JOIN pool_state
    ON pool_state.chain_id = pool.chain_id AND pool_state.pool_address = pool.pool_address
  LEFT JOIN token_price AS price0
    ON price0.chain_id = pool.chain_id AND price0.token_address = pool.token0
  LEFT JOIN token_price AS price1
    ON price1.chain_id = pool.chain_id AND price1.token_address = pool.token1
  ORDER BY pool.chain_id, pool.pool_address`

/** A range over (chain, address): one chain is the range that ends with it. */
const IN_RANGE = '(chain_id, pool_address) > (:chain, :pool) AND chain_id <= :last'
const IN_ORDER = 'ORDER BY chain_id, pool_address LIMIT :limit'

const TOKENS = `
  SELECT token.chain_id AS chainId, token.token_address AS tokenAddress, symbol, name, decimals, role,
    enrolled_at_ms AS enrolledAtMs, price, sequence
  FROM token LEFT JOIN token_price USING (chain_id, token_address)`

type JoinedPool = Omit<PoolRow, 'prices'> & { readonly price0: string | null; readonly price1: string | null }

export function snapshotStore(connection: Connection): SnapshotStore {
  const readHead = headReader(connection)
  const pools = poolReader(connection)
  const tokens = tokenReader(connection)
  const readQuote = quoteReader(connection)
  const matching = connection.prepare(`
    SELECT matched.* FROM (
      ${TOKENS} WHERE symbol LIKE :pattern ESCAPE '\\' OR name LIKE :pattern ESCAPE '\\'
      ORDER BY lower(symbol) = lower(:text) DESC, length(symbol), token.chain_id, token.token_address
      LIMIT ${MOST_MATCHES}) AS matched
    ORDER BY (
      SELECT coalesce(sum(CAST(json_extract(state, '$.depth.effective_microusd') AS INTEGER)), 0)
      FROM pool JOIN pool_state USING (chain_id, pool_address)
      WHERE pool.chain_id = matched.chainId
        AND (token0 = matched.tokenAddress OR token1 = matched.tokenAddress) AND json_valid(state)) DESC,
      matched.chainId, matched.tokenAddress
    LIMIT :limit`)
  const depths = connection.prepare(`
    SELECT (
      SELECT CAST(sum(CAST(json_extract(state, '$.depth.effective_microusd') AS INTEGER)) AS TEXT)
      FROM pool JOIN pool_state USING (chain_id, pool_address)
      WHERE pool.chain_id = :chain AND (token0 = wanted.value OR token1 = wanted.value) AND json_valid(state)) AS depth
    FROM json_each(:tokens) AS wanted ORDER BY wanted.key`)
  // A damaged entity is ignored here; its chain reports it when it starts.
  const readProven = connection.prepare(`
    SELECT json_extract(text, '$.proven') AS proven FROM entity
    WHERE chain_id = ? AND key = 'chain' AND json_valid(text)`)
  const readVerified = connection.prepare(`
    SELECT substr(key, 6) AS poolAddress, json_extract(text, '$.state.verifiedMs') AS verifiedMs,
      json_extract(text, '$.state.verifiedNumber') AS verifiedNumber,
      json_extract(text, '$.state.trackedSinceMs') + max(0,
        coalesce(json_extract(text, '$.state.past.readMs'), 0) - json_extract(text, '$.state.trackedSinceMs'))
        AS followedSinceMs,
      json_extract(text, '$.createdMs') AS createdMs
    FROM entity
    WHERE chain_id = ? AND key IN (SELECT 'pool/' || value FROM json_each(?)) AND json_valid(text)`)
  const readHealth = connection.prepare('SELECT health FROM feed_health WHERE chain_id = ?')

  return {
    async readPools(query) {
      return connection.read(() => ({ pools: pools.page(query), snapshotSequence: readHead() }))
    },
    readPool: async (chainId, poolAddress) => connection.query(() => pools.one(chainId, poolAddress)),
    readEvents: eventReader(connection).readEvents,
    readTokens: async query => connection.query(() => tokens.page(query)),
    readToken: async (chainId, tokenAddress) => connection.query(() => tokens.one(chainId, tokenAddress)),
    readQuote: async (chainId, tokenAddress) => connection.query(() => readQuote(chainId, tokenAddress)),
    async search(address) {
      return connection.read(() => ({ tokens: tokens.named(address), pools: pools.named(address) }))
    },
    async searchTokens(text, limit) {
      const rows = connection.query(() =>
        matching.all({ text, pattern: containing(text), limit: rowLimit(limit) }),
      )
      return rows as unknown as TokenRow[]
    },
    async readDepths(chainId, wanted) {
      const rows = connection.query(() => depths.all({ chain: chainId, tokens: JSON.stringify(wanted) }))
      return (rows as unknown as readonly { depth: string | null }[]).map(({ depth }) => depth)
    },
    async readVerified(chainId, wanted) {
      return connection.read(() => ({
        proven: (readProven.get(chainId) as { proven: string } | undefined)?.proven ?? null,
        pools: readVerified.all(chainId, JSON.stringify(wanted)) as unknown as Verified['pools'],
      }))
    },
    async readHealth(chainId) {
      const row = connection.query(() => readHealth.get(chainId))
      return (row as { health: string } | undefined)?.health ?? null
    },
  }
}

type PoolQuery = Parameters<SnapshotStore['readPools']>[0]

function poolReader(connection: Connection) {
  const range = connection.prepare(
    withStates(`SELECT ${POOL_COLUMNS} FROM pool WHERE ${IN_RANGE} ${IN_ORDER}`),
  )
  const rangeOfToken = connection.prepare(
    withStates(`
      SELECT ${POOL_COLUMNS} FROM pool WHERE token0 = :token AND ${IN_RANGE}
      UNION ALL
      SELECT ${POOL_COLUMNS} FROM pool WHERE token1 = :token AND ${IN_RANGE}
      ${IN_ORDER}`),
  )
  const one = connection.prepare(
    withStates(`SELECT ${POOL_COLUMNS} FROM pool WHERE chain_id = ? AND pool_address = ?`),
  )
  const named = connection.prepare(withStates(`SELECT ${POOL_COLUMNS} FROM pool WHERE pool_address = ?`))

  return {
    page({ chainId, tokenAddress, after, limit }: PoolQuery): PoolRow[] {
      const bounds = {
        chain: after?.chainId ?? chainId ?? 0,
        pool: after?.poolAddress ?? '',
        last: chainId ?? Number.MAX_SAFE_INTEGER,
        limit: rowLimit(limit),
      }
      const rows =
        tokenAddress === null ? range.all(bounds) : rangeOfToken.all({ ...bounds, token: tokenAddress })
      return (rows as unknown as JoinedPool[]).map(poolRow)
    },
    one(chainId: number, poolAddress: string): PoolRow | null {
      const row = one.get(chainId, poolAddress) as unknown as JoinedPool | undefined
      return row === undefined ? null : poolRow(row)
    },
    named: (address: string): PoolRow[] => (named.all(address) as unknown as JoinedPool[]).map(poolRow),
  }
}

function poolRow({ price0, price1, ...row }: JoinedPool): PoolRow {
  return { ...row, prices: { token0: price0, token1: price1 } }
}

export function tokenReader(connection: Connection) {
  const page = connection.prepare(
    `${TOKENS} WHERE token.chain_id = ? AND token.token_address > ? ORDER BY token.token_address LIMIT ?`,
  )
  const one = connection.prepare(`${TOKENS} WHERE token.chain_id = ? AND token.token_address = ?`)
  const named = connection.prepare(`${TOKENS} WHERE token.token_address = ? ORDER BY token.chain_id`)
  return {
    page: ({ chainId, after, limit }: Parameters<SnapshotStore['readTokens']>[0]): TokenRow[] =>
      page.all(chainId, after ?? '', rowLimit(limit)) as unknown as TokenRow[],
    one: (chainId: number, address: string): TokenRow | null =>
      (one.get(chainId, address) as unknown as TokenRow | undefined) ?? null,
    named: (address: string): TokenRow[] => named.all(address) as unknown as TokenRow[],
  }
}
