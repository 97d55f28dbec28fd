/** Small wire records to test readers with; `sample.test.ts` holds them to their schemas. */
import type { Feed, FeedStatus } from '../wire/health.ts'
import { toId } from '../wire/identifier.ts'
import type { Pool, PoolPage, PoolState, PoolToken } from '../wire/pool.ts'
import type { CompactPriced, CompactUnpriced } from '../wire/price.ts'
import type { Session } from '../wire/session.ts'
import type { Envelope } from '../wire/stream.ts'

export const CHAIN = 1
export const NOW_MS = 1_700_000_000_000
export const address = (n: number): `0x${string}` => `0x${n.toString(16).padStart(40, '0')}`
export const tokenId = (n: number) => toId(address(n))
export const poolId = (n: number) => toId(address(0x100 + n))

const hash = `0x${'ab'.repeat(32)}` as const
const block = { block_number: 100, block_hash: hash, block_time_ms: NOW_MS } as const

/** A price of `cents` that the record at `sequence` said. */
export function priced(cents: number, sequence: number, expiresAtMs: number | null = null): CompactPriced {
  const exact = { numerator: `${cents}`, denominator: '100', display: `${cents / 100}` }
  return {
    state: 'PRICED',
    price_usd: exact,
    confidence: {
      score: 5,
      label: 'Medium',
      components: {
        path_agreement: {
          score: 5,
          sources: 1,
          deployments: 1,
          spread_bps: '0',
          retained_weight_bps: 10_000,
        },
        material_routes: { score: 8, routes: 1 },
        aggregate_state: { score: 8 },
      },
      caps: [{ code: 'SINGLE_SOURCE', cap: 5 }],
    },
    support: null,
    selected: null,
    stable: { token_address: address(1), usd: exact, status: 'OK' },
    evaluated_at_ms: NOW_MS,
    as_of: { stream_sequence: sequence, ...block },
    expires_at_ms: expiresAtMs,
    policy_version: 'p0',
  }
}

export const unpriced = (sequence: number): CompactUnpriced => ({
  state: 'UNPRICED',
  reason: 'NO_ROUTE',
  evaluated_at_ms: NOW_MS,
  as_of: { stream_sequence: sequence, ...block },
  policy_version: 'p0',
})

/** A pool that holds `reserve` on both sides. */
export function poolState(reserve: number): PoolState {
  const text = `${reserve}`
  return {
    ...block,
    verified_at_ms: NOW_MS,
    finality: 'canonical',
    reserves: { reserve0: text, reserve1: text },
    from: address(1),
    to: address(2),
    marginal: null,
    evidence: null,
    depth: null,
    depth_reason: 'DEPTH_UNKNOWN',
    score: 0,
    components: {
      depth: { score: 0, l_eff: null },
      freshness: { score: 10, age_ms: 0, ttl_ms: 3_600_000 },
      agreement: { score: 7, sources: 1, deployments: 1, spread_bps: '0', retained_weight_bps: 10_000 },
      temporal: { score: 5, covered_ms: 0, median: null, deviation_bps: null },
      feed: { score: 10, status: 'HEALTHY' },
      state: { score: 8, finality: 'canonical' },
    },
    caps: [],
    reason: 'DEPTH_UNKNOWN',
  }
}

export const poolToken = (n: number, price: PoolToken['price']): PoolToken => ({
  token_address: address(n),
  token_id: tokenId(n),
  price,
})

export const pool = (n: number, sides: readonly [PoolToken, PoolToken], state: PoolState | null): Pool => ({
  chain_id: CHAIN,
  pool_address: address(0x100 + n),
  pool_id: poolId(n),
  family: 'amm_v2',
  deployment_id: 'v2',
  fee_ppm: 3000,
  token0: sides[0],
  token1: sides[1],
  created_block: null,
  state,
})

export const page = (
  snapshotSequence: number,
  pools: readonly Pool[],
  next: string | null = null,
): PoolPage => ({ pools, next_cursor: next, snapshot_sequence: snapshotSequence })

const routing = { chain_id: CHAIN, pool_ids: [], token_ids: [] } as const

export const tokenUpsert = (sequence: number, n: number, cents: number): Envelope => ({
  stream_sequence: sequence,
  routing: { ...routing, token_ids: [tokenId(n)] },
  type: 'PRICE_UPSERT',
  payload: {
    scope: 'token',
    chain_id: CHAIN,
    token_id: tokenId(n),
    record_id: `1-${sequence}-0`,
    ...priced(cents, sequence),
  },
})

export const tokenRetract = (sequence: number, n: number): Envelope => ({
  stream_sequence: sequence,
  routing: { ...routing, token_ids: [tokenId(n)] },
  type: 'PRICE_RETRACT',
  payload: {
    scope: 'token',
    chain_id: CHAIN,
    token_id: tokenId(n),
    record_id: `1-${sequence}-0`,
    reason: 'NO_ROUTE',
    retracted: { record_id: '1-0-0', stream_sequence: 0 },
    current: unpriced(sequence),
  },
})

export const poolUpsert = (sequence: number, n: number, reserve: number): Envelope => ({
  stream_sequence: sequence,
  routing: { ...routing, pool_ids: [poolId(n)] },
  type: 'PRICE_UPSERT',
  payload: {
    scope: 'pool',
    chain_id: CHAIN,
    pool_id: poolId(n),
    record_id: `1-${sequence}-0`,
    ...poolState(reserve),
  },
})

export const poolOrphaned = (sequence: number, n: number): Envelope => ({
  stream_sequence: sequence,
  routing: { ...routing, pool_ids: [poolId(n)] },
  type: 'PRICE_RETRACT',
  payload: {
    scope: 'pool',
    chain_id: CHAIN,
    pool_id: poolId(n),
    record_id: `1-${sequence}-0`,
    reason: 'POOL_ORPHANED',
    retracted: { record_id: '1-0-0', stream_sequence: null },
    current: null,
  },
})

export const feedHealth = (sequence: number, status: FeedStatus = 'HEALTHY'): Envelope => ({
  stream_sequence: sequence,
  routing,
  type: 'FEED_HEALTH',
  payload: {
    chain_id: CHAIN,
    status,
    reasons: [],
    head: block,
    processed: block,
    finalized: { block_number: 90, block_hash: hash },
    lag_blocks: 0,
    lag_ms: 0,
    endpoints: [{ name: 'own-node', status: 'OK', head: 100, error_rate: 0, p50_ms: 12 }],
    updated_at_ms: NOW_MS,
  },
})

/** One of each kind. */
export const eachEnvelope = (): readonly Envelope[] => [
  tokenUpsert(1, 1, 250),
  tokenRetract(2, 1),
  poolUpsert(3, 1, 10),
  poolOrphaned(4, 1),
  feedHealth(5),
]

/** An older service does not report the feed. */
export const session = (cursor: string | null, headSequence: number, feed?: Feed): Session => ({
  session: { expires_at_ms: NOW_MS + 43_200_000 },
  resume_cursor: cursor,
  cursor_expires_at_ms: cursor === null ? null : NOW_MS + 259_200_000,
  schema_version: 1,
  stream: { oldest_sequence: 0, head_sequence: headSequence },
  ...(feed === undefined ? {} : { feed }),
})
