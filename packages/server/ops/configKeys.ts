/** Every key of the configuration in a sentence: for the JSON Schema, the file that `assay config init` writes, and docs. */
export const CONFIG_KEYS: Readonly<Record<string, string>> = {
  listen: 'Where the service listens.',
  'listen.host': 'Address to listen on; 0.0.0.0 for all of the machine.',
  'listen.port': 'Port to listen on; 0 takes a free one.',
  'listen.public_origin':
    'The origin browsers see, such as https://prices.example; needed for sessions from other machines. TLS ends in front of Assay.',
  'listen.trusted_proxies': 'Addresses and networks whose X-Forwarded-For is believed.',
  store: 'sqlite:PATH on a local disk, or postgres://user:secret@host/database.',
  replica: 'A read replica of a PostgreSQL store, for processes with --role api.',
  admin: 'Who may use /v1/admin and /metrics.',
  'admin.allow': 'Addresses and networks; by default only this machine.',
  access: 'What other pages may do.',
  'access.cors_origins':
    'Origins whose pages may read with a bearer key from a browser, without cookies; by default none.',
  compat: 'Answers in the shapes of other services, for programs written for those; see docs/MIGRATING.md.',
  'compat.coingecko':
    'Below /compat/coingecko the endpoints of CoinGecko that can be answered; on by default where listen.host is this machine alone.',
  'compat.defillama': 'Below /compat/defillama those of DefiLlama; the same default.',
  'compat.udf': 'Below /compat/udf a feed for TradingView charts; the same default.',
  'compat.min_score': 'A price with a lower score is left out of those answers.',
  'compat.listen':
    'A second address with the same answers at its root, for programs that take no path in a base address; by default none.',
  'compat.listen.host': 'Address to listen on; by default that of listen.host.',
  'compat.listen.port': 'Port to listen on; 0 takes a free one.',
  mcp: 'Tools for agents (Model Context Protocol) at /mcp; see docs/MCP.md.',
  'mcp.enabled': 'Whether they are served; on by default where listen.host is this machine alone.',
  'mcp.min_score': 'Below this score an agent gets the reason and no number.',
  retention: 'Records beyond both limits are deleted.',
  'retention.hours': 'How long records are kept, in hours.',
  'retention.records': 'How many records are kept at least.',
  webhooks: 'Which addresses webhooks may call.',
  'webhooks.allow_private': 'Private networks that may be called, such as 10.0.0.0/8; by default none.',
  rpc: 'How endpoints are asked.',
  'rpc.max_answer_mib':
    'The largest answer of blocks, receipts or logs that is read, in MiB; larger receipts are asked for one by one.',
  chains: 'The chains to serve. For a built-in chain, chain_id and endpoints are enough.',
  'chains[].chain_id': 'The chain id that endpoints must answer with.',
  'chains[].name': 'A name for people.',
  'chains[].endpoints': 'JSON-RPC nodes; two of different providers are better than one.',
  'chains[].endpoints[].name': 'A name for health and logs, which never show the URL.',
  'chains[].endpoints[].url': 'An http, https, ws or wss URL; "${NAME}" is filled from the environment.',
  'chains[].genesis_hash': 'Hash of block 0, checked at every endpoint.',
  'chains[].checkpoint': 'A block that every endpoint must have: tells a fork with the same genesis apart.',
  'chains[].checkpoint.block_number': 'Its number.',
  'chains[].checkpoint.block_hash': 'Its hash.',
  'chains[].block_time_ms': 'Expected time between blocks, in milliseconds.',
  'chains[].start_behind_s': 'How far behind the head a chain that was never followed begins, in seconds.',
  'chains[].finality':
    'When a block is final: { tag: finalized }, or { depth: N } where nodes have no such tag.',
  'chains[].finality.tag': 'The tag that nodes answer to.',
  'chains[].finality.depth': 'Blocks until one is final.',
  'chains[].proof':
    'What the blocks of the chain prove about themselves. `assay doctor` detects it and prints the lines.',
  'chains[].proof.header':
    'standard: the fields of a header give its hash; opaque: they do not, so no single endpoint can prove a block.',
  'chains[].proof.receipts':
    'standard: the receipts give the root in the header; op_stack: the same with deposits; none: they do not.',
  'chains[].wrapped_native': 'The wrapped native token; list it in routing_assets too if it is one.',
  'chains[].deployments': 'Factories whose pools are looked up.',
  'chains[].deployments[].deployment_id': 'A name of your own for the factory.',
  'chains[].deployments[].family': 'The kind of its pools.',
  'chains[].deployments[].factory_address': 'The address of the factory.',
  'chains[].deployments[].deployment_block': 'The block it was deployed in; a back-fill begins there.',
  'chains[].deployments[].init_code_hash':
    'Hash of the code of its pools; with it their addresses are checked.',
  'chains[].deployments[].fee': 'Of amm_v2: the share of the input that trades, such as 997/1000.',
  'chains[].deployments[].fee.numerator': 'Above the line.',
  'chains[].deployments[].fee.denominator': 'Below the line.',
  'chains[].deployments[].fee_tiers':
    'Of amm_v3 and amm_v3_pancake: fee tiers to look up, in parts per million.',
  'chains[].deployments[].deployer_address':
    'Of amm_v3_pancake and amm_algebra_v1: the contract that makes the pools of the factory.',
  'chains[].unpriced_factories':
    'Factories of families that Assay knows but does not price: a token with no other pool gets a reason that names one.',
  'chains[].unpriced_factories[].deployment_id': 'A name of your own for the factory.',
  'chains[].unpriced_factories[].family': 'The kind of its pools.',
  'chains[].unpriced_factories[].factory_address':
    'The address of the factory, or of a registry of such pools.',
  'chains[].stables': 'Tokens that are held to be a dollar, each by its feed.',
  'chains[].stables[].token_address': 'The stable.',
  'chains[].stables[].usd_feed': 'Its Chainlink feed; null for a nominal dollar, which caps the score at 3.',
  'chains[].stables[].usd_feed.address': 'The feed.',
  'chains[].stables[].usd_feed.heartbeat_s': 'The longest time between two answers, in seconds.',
  'chains[].stables[].usd_feed.grace_s': 'How late one may be beyond that, in seconds.',
  'chains[].sequencer_uptime_feed': 'For an L2: the feed that says whether the sequencer is up.',
  'chains[].routing_assets':
    'Assets that routes may go over, each an address or a mapping with its feed. Ordered: each is priced from stables and those before it.',
  'chains[].routing_assets[].token_address': 'The asset.',
  'chains[].routing_assets[].usd_feed':
    'Its Chainlink feed in dollars: a price more than 2% from it is capped. It never gives the price.',
  'chains[].routing_assets[].usd_feed.address': 'The feed.',
  'chains[].routing_assets[].usd_feed.heartbeat_s': 'The longest time between two answers, in seconds.',
  'chains[].routing_assets[].usd_feed.grace_s':
    'How late one may be beyond that, in seconds; after it the feed says nothing.',
  'chains[].pools': 'Pools that are tracked from the start.',
  'chains[].tokens': 'Tokens that are enrolled from the start.',
  coverage: 'How deep the market is elsewhere; may only lower a score.',
  'coverage.sources': 'Where that is known from.',
  'coverage.sources[].kind':
    'static: the numbers stand here; file: they stand in a file that is read again every minute.',
  'coverage.sources[].path':
    'Of a file: JSON with as_of_ms and assets, as they stand here; beside this configuration unless absolute.',
  'coverage.sources[].as_of_ms': 'When they were true, in Unix milliseconds; they count for a day.',
  'coverage.sources[].assets': 'One entry an asset.',
  'coverage.sources[].assets[].chain_id': 'The chain of the asset.',
  'coverage.sources[].assets[].token_address': 'The asset.',
  'coverage.sources[].assets[].external_depth_usd':
    'Dollars that move its price by 2% elsewhere, as digits in quotes.',
  policy: 'Any subset of the pricing policy; a list replaces the whole list.',
}
