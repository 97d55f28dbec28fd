/** Commits and records as a worker hands them over, short to write in a test and of the size of real ones. */
import { Written } from '@assay/engine'
import { unsealed } from '../envelope.ts'
import type { KeyRow, PoolEventDraft, PoolFacts, RecordDraft, StepCommit, TokenFacts } from '../port.ts'

export const address = (name: number | string): string =>
  `0x${(typeof name === 'number' ? name.toString(16) : Buffer.from(name).toString('hex')).padStart(40, '0')}`
export const hash = (name: number | string): string => `0x${address(name).slice(2).padStart(64, 'f')}`
export const idOf = (of: string): string => `0x${'0'.repeat(24)}${of.slice(2)}`

export type CommitParts = Partial<Omit<StepCommit, 'chainId' | 'step' | 'records'>> & {
  readonly records?: readonly RecordDraft[]
}

/** A commit of nothing on the step before; give what it should hold. */
export function commitOf(
  chainId: number,
  step: number,
  { records = [], ...parts }: CommitParts = {},
): StepCommit {
  return {
    chainId,
    step,
    tip: tipAt(step),
    previousTipHash: step === 1 ? null : tipAt(step - 1).hash,
    atMs: 1_763_000_000_000 + step * 1_000,
    records: records.map(unsealed),
    entities: [],
    pools: [],
    removedPools: [],
    tokens: [],
    events: [],
    orphanedBlocks: [],
    finalizedNumber: null,
    input: null,
    ...parts,
  }
}

/** The block every test chain has at a step. */
export const tipAt = (step: number) => ({ number: 1_000 + step, hash: hash(step), timeMs: step * 12_000 })

type Head = { readonly chainId: number; readonly recordId: string }

const routed = (chainId: number, pools: readonly string[], tokens: readonly string[]) => ({
  chain_id: chainId,
  pool_ids: pools.map(idOf),
  token_ids: tokens.map(idOf),
})

export function tokenUpsert(
  { chainId, recordId }: Head,
  token: string,
  display: string,
  pools: readonly string[] = [],
): RecordDraft {
  const state = priced(display)
  return {
    type: 'PRICE_UPSERT',
    routing: routed(chainId, pools, [token]),
    payload: { scope: 'token', chain_id: chainId, token_id: idOf(token), record_id: recordId, ...state },
    quote: quoteOf(chainId, token, state),
  }
}

/** A token's first record, which has no price. */
export function unpricedUpsert({ chainId, recordId }: Head, token: string, reason: string): RecordDraft {
  const state = unpriced(reason)
  return {
    type: 'PRICE_UPSERT',
    routing: routed(chainId, [], [token]),
    payload: { scope: 'token', chain_id: chainId, token_id: idOf(token), record_id: recordId, ...state },
    quote: quoteOf(chainId, token, state),
  }
}

export function tokenRetract(
  { chainId, recordId }: Head,
  token: string,
  retracted: string,
  reason = 'NO_ROUTE',
): RecordDraft {
  const current = unpriced(reason)
  return {
    type: 'PRICE_RETRACT',
    routing: routed(chainId, [], [token]),
    payload: {
      scope: 'token',
      chain_id: chainId,
      token_id: idOf(token),
      record_id: recordId,
      reason,
      retracted: { record_id: retracted },
      current,
    },
    quote: quoteOf(chainId, token, current),
  }
}

const routedTo = (chainId: number, pool: PoolFacts) =>
  routed(chainId, [pool.poolAddress], [pool.token0, pool.token1])

const ofPool = ({ chainId, recordId }: Head, { poolAddress }: PoolFacts) => ({
  scope: 'pool',
  chain_id: chainId,
  pool_id: idOf(poolAddress),
  record_id: recordId,
})

export function poolUpsert(head: Head, pool: PoolFacts, tick: number): RecordDraft {
  return {
    type: 'PRICE_UPSERT',
    routing: routedTo(head.chainId, pool),
    payload: { ...ofPool(head, pool), ...poolState(tick) },
    quote: null,
  }
}

/** `tick` null: the pool is gone with its block. */
export function poolRetract(
  head: Head,
  pool: PoolFacts,
  retracted: string,
  tick: number | null,
): RecordDraft {
  return {
    type: 'PRICE_RETRACT',
    routing: routedTo(head.chainId, pool),
    payload: {
      ...ofPool(head, pool),
      reason: tick === null ? 'POOL_ORPHANED' : 'REORG',
      retracted: { record_id: retracted },
      current: tick === null ? null : poolState(tick),
    },
    quote: null,
  }
}

export const swap = (chainId: number, pool: PoolFacts, logIndex: number): RecordDraft => ({
  type: 'SWAP_OBSERVED',
  routing: routedTo(chainId, pool),
  payload: { chain_id: chainId, pool_id: idOf(pool.poolAddress), kind: 'SWAP', log_index: logIndex },
  quote: null,
})

export const health = (chainId: number, status: string): RecordDraft => ({
  type: 'FEED_HEALTH',
  routing: routed(chainId, [], []),
  payload: { chain_id: chainId, status, reasons: [], endpoints: [] },
  quote: null,
})

export const poolFacts = (name: number | string, token0: string, token1: string): PoolFacts => ({
  poolAddress: address(name),
  family: 'amm_v3',
  deploymentId: 'uniswap-v3',
  feePpm: 3_000,
  token0,
  token1,
  createdBlock: null,
})

export const tokenFacts = (tokenAddress: string, symbol = 'TKN'): TokenFacts => ({
  tokenAddress,
  symbol,
  name: `"as_of":{ \\" ${symbol} é`,
  decimals: 18,
  role: 'TOKEN',
  enrolledAtMs: 1,
})

export const eventOf = (pool: string, step: number, logIndex: number, kind = 'SWAP'): PoolEventDraft => ({
  poolAddress: pool,
  kind,
  blockNumber: tipAt(step).number,
  blockHash: tipAt(step).hash,
  logIndex,
  body: JSON.stringify({
    block_time_ms: 1_763_000_000_000 + step * 12_000,
    transaction_hash: hash(step),
    proof: 'receipts',
    amount0: `${logIndex}`,
  }),
})

const asOf = { block_number: 1_001, block_hash: hash(1), block_time_ms: 12_000 }
const exact = (display: string) => ({
  numerator: '152415787532388367501905199875019052100',
  denominator: '121932631356500531591068431703703700581',
  display,
})
const component = (score: number) => ({ score, l_eff: '1234567890123', age_ms: 12_000, ttl_ms: 3_600_000 })

type State = Readonly<Record<string, unknown>> & { readonly as_of: typeof asOf }

function priced(display: string): State {
  return {
    state: 'PRICED',
    price_usd: exact(display),
    confidence: {
      score: 7,
      label: 'High',
      components: {
        path_agreement: component(7),
        material_routes: component(8),
        aggregate_state: component(8),
      },
      caps: [{ code: 'SINGLE_SOURCE', cap: 7 }],
    },
    support: {
      low: exact('1.2'),
      high: exact('1.3'),
      accepted: 2,
      rejected: 0,
      retained_weight_bps: 10_000,
      tau_bps: '50',
      mad_bps: '3',
    },
    selected: { route_id: idOf(address(1)), pool_ids: [idOf(address(1))], weight_microusd: '99999999999' },
    stable: { token_address: address('usd'), usd: exact('1'), status: 'OK' },
    evaluated_at_ms: 12_345,
    as_of: asOf,
    expires_at_ms: 99_999,
    policy_version: 'policy-1',
  }
}

const unpriced = (reason: string): State => ({
  state: 'UNPRICED',
  reason,
  evaluated_at_ms: 12_345,
  as_of: asOf,
  policy_version: 'policy-1',
})

/** Names before `as_of`, and quotes inside quotes, are where a careless insertion goes wrong. */
function quoteOf(chainId: number, token: string, state: State): Written {
  const hop = { pool_id: idOf(address(1)), ratio: exact('1.1'), components: { depth: component(9) } }
  const nested = { note: '"as_of":{', ...state }
  const routes = Array.from({ length: 4 }, () => ({ hops: [hop, hop] }))
  return new Written({
    chain_id: chainId,
    token,
    note: '\\"as_of":{" é',
    first: [nested],
    ...state,
    routes,
    routing_assets: [nested],
  })
}

const poolState = (tick: number): Readonly<Record<string, unknown>> => ({
  block_number: 1_001,
  block_hash: hash(1),
  block_time_ms: 12_000,
  verified_at_ms: 12_345,
  finality: 'canonical',
  slot: { sqrt_price_x96: '79228162514264337593543950336', tick, liquidity: '123456789012345678901' },
  marginal: exact('1.25'),
  depth: { up_microusd: '1000000000', down_microusd: '1000000000', effective_microusd: '900000000' },
  score: 7,
  components: {
    depth: component(7),
    freshness: component(10),
    agreement: component(7),
    temporal: component(9),
  },
  caps: [],
  reason: null,
})

/** A key of a consumer, who is there with it. */
export const key = (consumer: string): KeyRow => ({
  keyId: `key of ${consumer}`,
  consumer,
  name: 'laptop',
  secretHash: new Uint8Array([1]),
  scopes: ['read'],
  createdAtMs: 1,
  expiresAtMs: null,
  revokedAtMs: null,
})
