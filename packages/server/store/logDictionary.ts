/**
 * What most envelopes hold, for the compression of log rows: of a few records it is more than half. A row names its dictionary
 * by its place here, so this list only grows; where the wire has changed much, a newer one is added behind.
 *
 * The kinds of record that come most often stand last, where zstd finds them cheapest.
 */
import type { Dictionaries } from './packed.ts'

// biome-ignore format: a record is easier to recognise in lines of its own.
const FIRST = [
  '{"stream_sequence":1,"routing":{"chain_id":1,"pool_ids":[],"token_ids":[]},"type":"FEED_HEALTH","payload":{"chai' +
    'n_id":1,"status":"HEALTHY","reasons":[],"endpoints":[{"name":"","status":"HEALTHY","observed_head_number":1,"obs' +
    'erved_head_age_ms":1}]}}',
  '{"stream_sequence":1,"routing":{"chain_id":1,"pool_ids":[],"token_ids":["0x000000000000000000000000"]},"type":"P' +
    'RICE_UPSERT","payload":{"scope":"token","chain_id":1,"token_id":"0x000000000000000000000000","record_id":"1-","s' +
    'tate":"UNPRICED","reason":"NO_ROUTE","evaluated_at_ms":1,"as_of":{"stream_sequence":1,"block_number":1,"block_ha' +
    'sh":"0x","block_time_ms":1},"policy_version":"p","last_priced":null}}',
  '{"stream_sequence":1,"routing":{"chain_id":1,"pool_ids":[],"token_ids":["0x000000000000000000000000"]},"type":"P' +
    'RICE_RETRACT","payload":{"scope":"token","chain_id":1,"token_id":"0x000000000000000000000000","record_id":"1-","' +
    'reason":"NO_ROUTE","retracted":{"record_id":"1-","stream_sequence":999999},"current":{"state":"UNPRICED","reason' +
    '":"NO_ROUTE","evaluated_at_ms":1,"as_of":{"stream_sequence":1,"block_number":1,"block_hash":"0x","block_time_ms"' +
    ':1},"policy_version":"p","last_priced":null}}}',
  '{"stream_sequence":1,"routing":{"chain_id":1,"pool_ids":["0x000000000000000000000000"],"token_ids":["0x000000000' +
    '000000000000000","0x000000000000000000000000"]},"type":"PRICE_UPSERT","payload":{"scope":"pool","chain_id":1,"po' +
    'ol_id":"0x000000000000000000000000","record_id":"1-","block_number":1,"block_hash":"0x","block_time_ms":1,"verif' +
    'ied_at_ms":1,"finality":"canonical","reserves":{"reserve0":"","reserve1":""},"from":"0x","to":"0x","marginal":{"' +
    'numerator":"","denominator":"","display":"1."},"evidence":{"kind":"OBSERVED_SWAP","amount_in":"","amount_out":"1' +
    '3980","block_number":1,"block_hash":"0x","transaction_hash":"0x","log_index":1,"observed_at_ms":1,"finality":"ca' +
    'nonical"},"depth":null,"depth_reason":"ANCHOR_UNPRICED","score":0,"components":{"depth":{"score":0,"l_eff":null}' +
    ',"freshness":{"score":10,"age_ms":300,"ttl_ms":1},"agreement":{"score":2,"sources":2,"deployments":2,"spread_bps' +
    '":"1.","retained_weight_bps":10000},"temporal":{"score":5,"covered_ms":130350,"median":null,"deviation_bps":null' +
    '},"feed":{"score":10,"status":"HEALTHY"},"state":{"score":8,"finality":"canonical"}},"caps":[{"code":"NO_INDEPEN' +
    'DENT_CONSENSUS","cap":2},{"code":"INSUFFICIENT_HISTORY","cap":5},{"code":"NO_RECENT_TRADE","cap":3}],"reason":"A' +
    'NCHOR_UNPRICED"}}',
  '{"stream_sequence":1,"routing":{"chain_id":1,"pool_ids":["0x000000000000000000000000","0x00000000000000000000000' +
    '0","0x000000000000000000000000","0x000000000000000000000000"],"token_ids":["0x000000000000000000000000"]},"type"' +
    ':"PRICE_UPSERT","payload":{"scope":"token","chain_id":1,"token_id":"0x000000000000000000000000","record_id":"1-"' +
    ',"state":"PRICED","price_usd":{"numerator":"","denominator":"","display":"1."},"confidence":{"score":5,"label":"' +
    'Medium","components":{"path_agreement":{"score":5,"sources":6,"deployments":3,"spread_bps":"1.","retained_weight' +
    '_bps":10000,"source_score":5},"material_routes":{"score":5,"routes":4},"aggregate_state":{"score":8}},"caps":[{"' +
    'code":"INSUFFICIENT_HISTORY","cap":5},{"code":"SELLABILITY_UNKNOWN","cap":7},{"code":"SINGLE_POOL_PAIR","cap":8}' +
    ']},"support":{"low":{"numerator":"","denominator":"","display":"1."},"high":{"numerator":"","denominator":"","di' +
    'splay":"1."},"accepted":7,"rejected":0,"retained_weight_bps":10000,"tau_bps":"200","mad_bps":"1."},"selected":{"' +
    'route_id":"0x000000000000000000000000-0x000000000000000000000000","pool_ids":["0x000000000000000000000000","0x00' +
    '0000000000000000000000"],"weight_microusd":""},"stable":{"token_address":"0x","usd":{"numerator":"9999","denomin' +
    'ator":"10000","display":"1."},"status":"OK"},"sellability":{"status":"UNKNOWN","buy_tax_bps":null,"transfer_tax_' +
    'bps":null,"sell_tax_bps":null,"reason":"NOT_YET"},"evaluated_at_ms":1,"as_of":{"stream_sequence":1,"block_number' +
    '":1,"block_hash":"0x","block_time_ms":1},"expires_at_ms":1,"policy_version":"p","last_priced":null}}',
  '{"stream_sequence":1,"routing":{"chain_id":1,"pool_ids":["0x000000000000000000000000"],"token_ids":["0x000000000' +
    '000000000000000","0x000000000000000000000000"]},"type":"SWAP_OBSERVED","payload":{"chain_id":1,"pool_id":"0x0000' +
    '00000000000000000000","kind":"SWAP","block_number":1,"block_hash":"0x","block_time_ms":1,"transaction_hash":"0x"' +
    ',"log_index":1,"finality":"canonical","proof":"receipts","amount0_in":"","amount1_in":"0","amount0_out":"0","amo' +
    'unt1_out":""}}',
  '{"stream_sequence":1,"routing":{"chain_id":1,"pool_ids":["0x000000000000000000000000"],"token_ids":["0x000000000' +
    '000000000000000","0x000000000000000000000000"]},"type":"SWAP_OBSERVED","payload":{"chain_id":1,"pool_id":"0x0000' +
    '00000000000000000000","kind":"SWAP","block_number":1,"block_hash":"0x","block_time_ms":1,"transaction_hash":"0x"' +
    ',"log_index":2,"finality":"canonical","proof":"receipts","amount0":"","amount1":"","sqrt_price_x96":"","liquidit' +
    'y":"","tick":197845}}',
  '{"stream_sequence":1,"routing":{"chain_id":1,"pool_ids":["0x000000000000000000000000"],"token_ids":["0x000000000' +
    '000000000000000","0x000000000000000000000000"]},"type":"PRICE_UPSERT","payload":{"scope":"pool","chain_id":1,"po' +
    'ol_id":"0x000000000000000000000000","record_id":"1-","block_number":1,"block_hash":"0x","block_time_ms":1,"verif' +
    'ied_at_ms":1,"finality":"finalized","reserves":{"reserve0":"","reserve1":""},"from":"0x","to":"0x","marginal":{"' +
    'numerator":"","denominator":"","display":"1."},"evidence":{"kind":"OBSERVED_SWAP","amount_in":"","amount_out":""' +
    ',"block_number":1,"block_hash":"0x","transaction_hash":"0x","log_index":4,"observed_at_ms":1,"finality":"finaliz' +
    'ed"},"depth":{"up_microusd":"","down_microusd":"","current_microusd":"","ewma_microusd":"","effective_microusd":' +
    '""},"score":0,"components":{"depth":{"score":1,"l_eff":""},"freshness":{"score":10,"age_ms":300,"ttl_ms":1},"agr' +
    'eement":{"score":8,"sources":2,"deployments":2,"spread_bps":"1.","retained_weight_bps":10000},"temporal":{"score' +
    '":5,"covered_ms":115050,"median":null,"deviation_bps":null},"feed":{"score":10,"status":"HEALTHY"},"state":{"sco' +
    're":10,"finality":"finalized"}},"caps":[{"code":"INSUFFICIENT_HISTORY","cap":5},{"code":"NO_RECENT_TRADE","cap":' +
    '3}],"reason":"BELOW_MIN_DEPTH"}}',
  '{"stream_sequence":1,"routing":{"chain_id":1,"pool_ids":["0x000000000000000000000000"],"token_ids":["0x000000000' +
    '000000000000000","0x000000000000000000000000"]},"type":"PRICE_UPSERT","payload":{"scope":"pool","chain_id":1,"po' +
    'ol_id":"0x000000000000000000000000","record_id":"1-","block_number":1,"block_hash":"0x","block_time_ms":1,"verif' +
    'ied_at_ms":1,"finality":"canonical","slot":{"sqrt_price_x96":"","tick":-149986,"liquidity":""},"from":"0x","to":' +
    '"0x","marginal":{"numerator":"","denominator":"","display":"1."},"evidence":{"kind":"OBSERVED_SWAP","amount_in":' +
    '"","amount_out":"","block_number":1,"block_hash":"0x","transaction_hash":"0x","log_index":0,"observed_at_ms":1,"' +
    'finality":"canonical"},"depth":{"up_microusd":"","down_microusd":"","current_microusd":"","ewma_microusd":"","ef' +
    'fective_microusd":""},"score":1,"components":{"depth":{"score":1,"l_eff":""},"freshness":{"score":10,"age_ms":30' +
    '0,"ttl_ms":1},"agreement":{"score":9,"sources":2,"deployments":2,"spread_bps":"1.","retained_weight_bps":10000},' +
    '"temporal":{"score":5,"covered_ms":118200,"median":null,"deviation_bps":null},"feed":{"score":10,"status":"HEALT' +
    'HY"},"state":{"score":8,"finality":"canonical"}},"caps":[{"code":"INSUFFICIENT_HISTORY","cap":5}],"reason":null}' +
    '}',
]

export const LOG_DICTIONARIES: Dictionaries = [Buffer.from(FIRST.join('\n'))]
