/**
 * Every configuration key explained in a sentence: for the JSON Schema, the file that `assay config init` writes, and
 * docs.
 */
export const CONFIG_KEYS: Readonly<Record<string, string>> = {
  listen: 'Where the service listens.',
  'listen.host': 'Address to listen on; 0.0.0.0 for all interfaces.',
  'listen.port': 'Port to listen on; 0 takes a free one.',
  'listen.public_origin':
    'The origin browsers see, such as https://prices.example; required for sessions from other machines. Terminate TLS in front of Assay.',
  'listen.trusted_proxies': 'Addresses and networks whose X-Forwarded-For is trusted.',
  store: 'sqlite:PATH on a local disk, or postgres://user:secret@host/database.',
  replica: 'A read replica of a PostgreSQL store, for processes with --role api.',
  admin: 'Access to /v1/admin and /metrics.',
  'admin.allow': 'Allowed addresses and networks; by default only this machine.',
  access: 'Access for pages of other origins.',
  'access.cors_origins':
    'Origins whose pages may read with a bearer key from a browser, without cookies; by default none.',
  compat:
    'Endpoints in the formats of other services, for programs written for those; see docs/MIGRATING.md.',
  'compat.coingecko':
    'CoinGecko endpoints below /compat/coingecko; on by default if listen.host is loopback.',
  'compat.defillama': 'DefiLlama endpoints below /compat/defillama; the same default.',
  'compat.udf': 'A feed for TradingView charts below /compat/udf; the same default.',
  'compat.min_score': 'Prices with a lower score are omitted from those endpoints.',
  'compat.listen':
    'A second address with these endpoints at its root, for programs whose base URL cannot have a path; by default none.',
  'compat.listen.host': 'Address to listen on; by default that of listen.host.',
  'compat.listen.port': 'Port to listen on; 0 takes a free one.',
  mcp: 'Tools for agents (Model Context Protocol) at /mcp; see docs/MCP.md.',
  'mcp.enabled': 'Whether they are served; on by default if listen.host is loopback.',
  'mcp.min_score': 'Below this score an agent gets the reason but no number.',
  retention: 'Records beyond both limits are deleted.',
  'retention.hours': 'How long records are kept, in hours.',
  'retention.records': 'The minimum number of records that are kept.',
  'retention.history_days':
    'How long published prices can be read after their records are deleted, in days; by default as long as the records.',
  webhooks: 'Which addresses webhooks may call.',
  'webhooks.allow_private': 'Private networks that may be called, such as 10.0.0.0/8; by default none.',
  rpc: 'Requests to endpoints.',
  'rpc.max_answer_mib':
    'The largest accepted response with blocks, receipts or logs, in MiB; larger receipts are fetched one by one.',
  chains: 'The chains to serve. For a built-in chain, chain_id and endpoints are enough.',
  'chains[].chain_id': 'The chain id that endpoints must return.',
  'chains[].name': 'A display name.',
  'chains[].endpoints': 'JSON-RPC nodes; two of different providers are better than one.',
  'chains[].endpoints[].name': 'The name shown in health and logs, which never show the URL.',
  'chains[].endpoints[].url': 'An http, https, ws or wss URL; "${NAME}" is filled from the environment.',
  'chains[].genesis_hash': 'Hash of block 0, checked at every endpoint.',
  'chains[].checkpoint': 'A block that every endpoint must have: distinguishes forks with the same genesis.',
  'chains[].checkpoint.block_number': 'Its number.',
  'chains[].checkpoint.block_hash': 'Its hash.',
  'chains[].block_time_ms': 'Expected time between blocks, in milliseconds.',
  'chains[].start_behind_s': 'How far behind the head a new chain starts, in seconds.',
  'chains[].finality': 'When a block is final: { tag: finalized }, or { depth: N } if nodes lack that tag.',
  'chains[].finality.tag': 'The tag that nodes support.',
  'chains[].finality.depth': 'The number of blocks after which one is final.',
  'chains[].proof':
    'What the blocks of the chain prove about themselves. `assay doctor` detects it and prints the lines.',
  'chains[].proof.header':
    'standard: the fields of a header give its hash; opaque: they do not, so no single endpoint can prove a block.',
  'chains[].proof.receipts':
    'standard: the receipts give the root in the header; op_stack: the same with deposits; none: they do not.',
  'chains[].wrapped_native': 'The wrapped native token; list it in routing_assets too if it is one.',
  'chains[].deployments': 'Factories whose pools are looked up.',
  'chains[].deployments[].deployment_id': 'A name of your choice for the factory.',
  'chains[].deployments[].family': 'The family of its pools.',
  'chains[].deployments[].factory_address': 'The address of the factory.',
  'chains[].deployments[].deployment_block': 'The block it was deployed in; a back-fill begins there.',
  'chains[].deployments[].init_code_hash':
    'Hash of the init code of its pools; used to check their addresses.',
  'chains[].deployments[].fee': 'For amm_v2: the share of the input that is traded, such as 997/1000.',
  'chains[].deployments[].fee.numerator': 'The numerator.',
  'chains[].deployments[].fee.denominator': 'The denominator.',
  'chains[].deployments[].fee_tiers':
    'For amm_v3 and amm_v3_pancake: fee tiers to look up, in parts per million.',
  'chains[].deployments[].deployer_address':
    'For amm_v3_pancake and amm_algebra_v1: the contract that deploys its pools.',
  'chains[].unpriced_factories':
    'Factories of families that Assay recognises but does not price: a token with no other pool gets a reason that names one.',
  'chains[].unpriced_factories[].deployment_id': 'A name of your choice for the factory.',
  'chains[].unpriced_factories[].family': 'The family of its pools.',
  'chains[].unpriced_factories[].factory_address':
    'The address of the factory, or of a registry of such pools.',
  'chains[].stables': 'Tokens that count as a dollar, each with its feed.',
  'chains[].stables[].token_address': 'The stable.',
  'chains[].stables[].usd_feed': 'Its Chainlink feed; null for a nominal dollar, which caps the score at 3.',
  'chains[].stables[].usd_feed.address': 'The feed.',
  'chains[].stables[].usd_feed.heartbeat_s': 'The longest time between two answers, in seconds.',
  'chains[].stables[].usd_feed.grace_s': 'How late an answer may be beyond that, in seconds.',
  'chains[].sequencer_uptime_feed': 'For an L2: the feed that reports whether the sequencer is up.',
  'chains[].routing_assets':
    'Assets that routes may go through, each an address or a mapping with its feed. Ordered: each is priced from stables and those before it.',
  'chains[].routing_assets[].token_address': 'The asset.',
  'chains[].routing_assets[].usd_feed':
    'Its Chainlink feed in dollars: a price more than 2% from it is capped. It never sets the price.',
  'chains[].routing_assets[].usd_feed.address': 'The feed.',
  'chains[].routing_assets[].usd_feed.heartbeat_s': 'The longest time between two answers, in seconds.',
  'chains[].routing_assets[].usd_feed.grace_s':
    'How late an answer may be beyond that, in seconds; after that the feed counts as silent.',
  'chains[].pools': 'Pools to track from the start.',
  'chains[].tokens': 'Tokens to enrol from the start.',
  coverage: 'Market depth elsewhere; can only lower a score.',
  'coverage.sources': 'The sources of that depth.',
  'coverage.sources[].kind':
    'static: the numbers are given here; file: they are in a file that is reread every minute.',
  'coverage.sources[].path':
    'For kind file: a JSON file with as_of_ms and assets in the same form; relative to this configuration unless absolute.',
  'coverage.sources[].as_of_ms': 'The time of the numbers, in Unix milliseconds; they are valid for a day.',
  'coverage.sources[].assets': 'One entry per asset.',
  'coverage.sources[].assets[].chain_id': 'The chain of the asset.',
  'coverage.sources[].assets[].token_address': 'The asset.',
  'coverage.sources[].assets[].external_depth_usd':
    'Dollars that move its price by 2% elsewhere, as a string of digits.',
  policy: 'Any subset of the pricing policy; a list replaces the whole list.',
}
