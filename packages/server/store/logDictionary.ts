/**
 * Typical envelopes, as dictionaries for compressing log rows; in rows of a few records they make up more than half of the
 * text. A row stores the index of its dictionary, so this list only grows: append a new one when the wire has changed much.
 *
 * The most frequent kinds of record come last, where zstd references them most cheaply.
 */
import type { Dictionaries } from './packed.ts'

// biome-ignore format: a record is easier to recognise in a few lines.
const FIRST = [
  { stream_sequence: 1, routing: { chain_id: 1, pool_ids: [], token_ids: [] }, type: 'FEED_HEALTH', payload: { chain_id: 1,
    status: 'HEALTHY', reasons: [], endpoints: [{ name: '', status: 'HEALTHY', observed_head_number: 1, observed_head_age_ms:
    1 }] } },
  { stream_sequence: 1, routing: { chain_id: 1, pool_ids: [], token_ids: ['0x000000000000000000000000'] }, type:
    'PRICE_UPSERT', payload: { scope: 'token', chain_id: 1, token_id: '0x000000000000000000000000', record_id: '1-', state:
    'UNPRICED', reason: 'NO_ROUTE', evaluated_at_ms: 1, as_of: { stream_sequence: 1, block_number: 1, block_hash: '0x',
    block_time_ms: 1 }, policy_version: 'p', last_priced: null } },
  { stream_sequence: 1, routing: { chain_id: 1, pool_ids: [], token_ids: ['0x000000000000000000000000'] }, type:
    'PRICE_RETRACT', payload: { scope: 'token', chain_id: 1, token_id: '0x000000000000000000000000', record_id: '1-', reason:
    'NO_ROUTE', retracted: { record_id: '1-', stream_sequence: 999999 }, current: { state: 'UNPRICED', reason: 'NO_ROUTE',
    evaluated_at_ms: 1, as_of: { stream_sequence: 1, block_number: 1, block_hash: '0x', block_time_ms: 1 }, policy_version:
    'p', last_priced: null } } },
  { stream_sequence: 1, routing: { chain_id: 1, pool_ids: ['0x000000000000000000000000'], token_ids:
    ['0x000000000000000000000000', '0x000000000000000000000000'] }, type: 'PRICE_UPSERT', payload: { scope: 'pool', chain_id:
    1, pool_id: '0x000000000000000000000000', record_id: '1-', block_number: 1, block_hash: '0x', block_time_ms: 1,
    verified_at_ms: 1, finality: 'canonical', reserves: { reserve0: '', reserve1: '' }, from: '0x', to: '0x', marginal: {
    numerator: '', denominator: '', display: '1.' }, evidence: { kind: 'OBSERVED_SWAP', amount_in: '', amount_out: '13980',
    block_number: 1, block_hash: '0x', transaction_hash: '0x', log_index: 1, observed_at_ms: 1, finality: 'canonical' },
    depth: null, depth_reason: 'ANCHOR_UNPRICED', score: 0, components: { depth: { score: 0, l_eff: null }, freshness: {
    score: 10, age_ms: 300, ttl_ms: 1 }, agreement: { score: 2, sources: 2, deployments: 2, spread_bps: '1.',
    retained_weight_bps: 10000 }, temporal: { score: 5, covered_ms: 130350, median: null, deviation_bps: null }, feed: {
    score: 10, status: 'HEALTHY' }, state: { score: 8, finality: 'canonical' } }, caps: [{ code: 'NO_INDEPENDENT_CONSENSUS',
    cap: 2 }, { code: 'INSUFFICIENT_HISTORY', cap: 5 }, { code: 'NO_RECENT_TRADE', cap: 3 }], reason: 'ANCHOR_UNPRICED' } },
  { stream_sequence: 1, routing: { chain_id: 1, pool_ids: ['0x000000000000000000000000', '0x000000000000000000000000',
    '0x000000000000000000000000', '0x000000000000000000000000'], token_ids: ['0x000000000000000000000000'] }, type:
    'PRICE_UPSERT', payload: { scope: 'token', chain_id: 1, token_id: '0x000000000000000000000000', record_id: '1-', state:
    'PRICED', price_usd: { numerator: '', denominator: '', display: '1.' }, confidence: { score: 5, label: 'Medium',
    components: { path_agreement: { score: 5, sources: 6, deployments: 3, spread_bps: '1.', retained_weight_bps: 10000,
    source_score: 5 }, material_routes: { score: 5, routes: 4 }, aggregate_state: { score: 8 } }, caps: [{ code:
    'INSUFFICIENT_HISTORY', cap: 5 }, { code: 'SELLABILITY_UNKNOWN', cap: 7 }, { code: 'SINGLE_POOL_PAIR', cap: 8 }] },
    support: { low: { numerator: '', denominator: '', display: '1.' }, high: { numerator: '', denominator: '', display: '1.'
    }, accepted: 7, rejected: 0, retained_weight_bps: 10000, tau_bps: '200', mad_bps: '1.' }, selected: { route_id:
    '0x000000000000000000000000-0x000000000000000000000000', pool_ids: ['0x000000000000000000000000',
    '0x000000000000000000000000'], weight_microusd: '' }, stable: { token_address: '0x', usd: { numerator: '9999',
    denominator: '10000', display: '1.' }, status: 'OK' }, sellability: { status: 'UNKNOWN', buy_tax_bps: null,
    transfer_tax_bps: null, sell_tax_bps: null, reason: 'NOT_YET' }, evaluated_at_ms: 1, as_of: { stream_sequence: 1,
    block_number: 1, block_hash: '0x', block_time_ms: 1 }, expires_at_ms: 1, policy_version: 'p', last_priced: null } },
  { stream_sequence: 1, routing: { chain_id: 1, pool_ids: ['0x000000000000000000000000'], token_ids:
    ['0x000000000000000000000000', '0x000000000000000000000000'] }, type: 'SWAP_OBSERVED', payload: { chain_id: 1, pool_id:
    '0x000000000000000000000000', kind: 'SWAP', block_number: 1, block_hash: '0x', block_time_ms: 1, transaction_hash: '0x',
    log_index: 1, finality: 'canonical', proof: 'receipts', amount0_in: '', amount1_in: '0', amount0_out: '0', amount1_out: ''
    } },
  { stream_sequence: 1, routing: { chain_id: 1, pool_ids: ['0x000000000000000000000000'], token_ids:
    ['0x000000000000000000000000', '0x000000000000000000000000'] }, type: 'SWAP_OBSERVED', payload: { chain_id: 1, pool_id:
    '0x000000000000000000000000', kind: 'SWAP', block_number: 1, block_hash: '0x', block_time_ms: 1, transaction_hash: '0x',
    log_index: 2, finality: 'canonical', proof: 'receipts', amount0: '', amount1: '', sqrt_price_x96: '', liquidity: '', tick:
    197845 } },
  { stream_sequence: 1, routing: { chain_id: 1, pool_ids: ['0x000000000000000000000000'], token_ids:
    ['0x000000000000000000000000', '0x000000000000000000000000'] }, type: 'PRICE_UPSERT', payload: { scope: 'pool', chain_id:
    1, pool_id: '0x000000000000000000000000', record_id: '1-', block_number: 1, block_hash: '0x', block_time_ms: 1,
    verified_at_ms: 1, finality: 'finalized', reserves: { reserve0: '', reserve1: '' }, from: '0x', to: '0x', marginal: {
    numerator: '', denominator: '', display: '1.' }, evidence: { kind: 'OBSERVED_SWAP', amount_in: '', amount_out: '',
    block_number: 1, block_hash: '0x', transaction_hash: '0x', log_index: 4, observed_at_ms: 1, finality: 'finalized' },
    depth: { up_microusd: '', down_microusd: '', current_microusd: '', ewma_microusd: '', effective_microusd: '' }, score: 0,
    components: { depth: { score: 1, l_eff: '' }, freshness: { score: 10, age_ms: 300, ttl_ms: 1 }, agreement: { score: 8,
    sources: 2, deployments: 2, spread_bps: '1.', retained_weight_bps: 10000 }, temporal: { score: 5, covered_ms: 115050,
    median: null, deviation_bps: null }, feed: { score: 10, status: 'HEALTHY' }, state: { score: 10, finality: 'finalized' }
    }, caps: [{ code: 'INSUFFICIENT_HISTORY', cap: 5 }, { code: 'NO_RECENT_TRADE', cap: 3 }], reason: 'BELOW_MIN_DEPTH' } },
  { stream_sequence: 1, routing: { chain_id: 1, pool_ids: ['0x000000000000000000000000'], token_ids:
    ['0x000000000000000000000000', '0x000000000000000000000000'] }, type: 'PRICE_UPSERT', payload: { scope: 'pool', chain_id:
    1, pool_id: '0x000000000000000000000000', record_id: '1-', block_number: 1, block_hash: '0x', block_time_ms: 1,
    verified_at_ms: 1, finality: 'canonical', slot: { sqrt_price_x96: '', tick: -149986, liquidity: '' }, from: '0x', to:
    '0x', marginal: { numerator: '', denominator: '', display: '1.' }, evidence: { kind: 'OBSERVED_SWAP', amount_in: '',
    amount_out: '', block_number: 1, block_hash: '0x', transaction_hash: '0x', log_index: 0, observed_at_ms: 1, finality:
    'canonical' }, depth: { up_microusd: '', down_microusd: '', current_microusd: '', ewma_microusd: '', effective_microusd:
    '' }, score: 1, components: { depth: { score: 1, l_eff: '' }, freshness: { score: 10, age_ms: 300, ttl_ms: 1 }, agreement:
    { score: 9, sources: 2, deployments: 2, spread_bps: '1.', retained_weight_bps: 10000 }, temporal: { score: 5, covered_ms:
    118200, median: null, deviation_bps: null }, feed: { score: 10, status: 'HEALTHY' }, state: { score: 8, finality:
    'canonical' } }, caps: [{ code: 'INSUFFICIENT_HISTORY', cap: 5 }], reason: null } },
]

export const LOG_DICTIONARIES: Dictionaries = [
  Buffer.from(FIRST.map(each => JSON.stringify(each)).join('\n')),
]
