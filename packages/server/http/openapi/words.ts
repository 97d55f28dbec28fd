/**
 * Descriptions of parameters and bodies, each with an example, for the OpenAPI document and its page. A name means the
 * same in every operation, unless an entry overrides it for one.
 */

type Word = { readonly about: string; readonly example: string | number }

const PARAMETERS: Readonly<Record<string, Word>> = {
  chain_id: { about: 'The chain, by its EIP-155 id; GET /v1/chains lists those served.', example: 1 },
  token_address: {
    about: 'The contract of the token. Any case; mixed case must carry a valid EIP-55 checksum.',
    example: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  },
  pool_address: {
    about: 'The contract of the pool. Any case; mixed case must carry a valid EIP-55 checksum.',
    example: '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640',
  },
  limit: {
    about: 'Rows per page, at most; 100 by default. Each thousand costs one more unit.',
    example: 100,
  },
  cursor: {
    about: 'next_cursor of the previous page, with the same parameters.',
    example: 'eyJhZnRlciI6MTAwfQ',
  },
  address: {
    about: 'Tokens, pools, factories and wrapped natives under this address, on every chain; not with q.',
    example: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  },
  q: {
    about: 'Symbol or name of a token, or a part of it; deepest tokens first. Not with address.',
    example: 'WETH',
  },
  include: {
    about: 'What to add to each row, separated by commas: change, spark, depth.',
    example: 'change,depth',
  },
  view: { about: 'compact: the price, its score, caps and route in less than 2 kB.', example: 'compact' },
  kind: { about: 'Only events of this kind.', example: 'SWAP' },
  from_block: { about: 'Only events of this block and later ones.', example: 23_800_000 },
  to_block: { about: 'Only events of this block and earlier ones.', example: 23_900_000 },
  max_age_ms: {
    about: 'The oldest price to accept; an older one is recomputed or refused.',
    example: 60_000,
  },
  deadline_ms: {
    about: 'How long to wait for a computed answer, 3000 by default; then the answer is 504.',
    example: 3000,
  },
  max_hops: {
    about: 'Only routes of at most this many pools. The quote is computed and never published.',
    example: 2,
  },
  min_depth_usd: {
    about:
      'Only pools with at least this effective depth, in dollars. It can only raise the minimum of the policy.',
    example: 1000,
  },
  exclude_pools: {
    about: 'Pool addresses that no route may go through, separated by commas; at most 50.',
    example: '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640',
  },
  usd: {
    about: 'Sizes in dollars at the published price, separated by commas; at most 8. Not with amount.',
    example: '100,1000,10000',
  },
  amount: {
    about: "Sizes in the token's smallest units, separated by commas; at most 8. Not with usd.",
    example: '1000000000000000000',
  },
  from_ms: { about: 'From this time on, Unix milliseconds; with to_ms.', example: 1_763_164_800_000 },
  to_ms: { about: 'Before this time, Unix milliseconds; with from_ms.', example: 1_763_251_200_000 },
  at_ms: { about: 'The state in force at this time, Unix milliseconds.', example: 1_763_164_800_000 },
  at_block: { about: 'The state in force at this block.', example: 23_800_000 },
  at_sequence: { about: 'The state in force at this sequence.', example: 1000 },
  interval: { about: 'Candles of this width instead of the states themselves.', example: '1h' },
  policy_version: {
    about: 'The version of a policy, as it appears in records.',
    example: 'p0123456789abcdef0123456789abcdef',
  },
  snapshot_sequence: {
    about: 'The cursor begins after this sequence, as GET /v1/pools returns it; needs chain_id.',
    example: 1000,
  },
  webhook_id: {
    about: 'The id returned when the webhook was registered.',
    example: '0b6b1c9f4f1e4a0f9a6f0f6f3c1d2e3f',
  },
  format: { about: 'The format of the file; csv by default.', example: 'parquet' },
  after_sequence: { about: 'Records above this sequence; by default all retained ones.', example: 1000 },
  to_sequence: { about: 'Records up to this sequence; by default the end of the log.', example: 2000 },
  header: { about: 'Whether a CSV begins with a header row; yes by default.', example: 'no' },
  closed: {
    about: 'Ends with the commit-time bucket of the first record; empty while that bucket is open.',
    example: '1h',
  },
  key_id: { about: 'The public part of a key: the eight characters after assay_.', example: 'aB3dE6gH' },
  consumer: { about: 'The consumer that keys were issued to.', example: 'acme' },
}

const OF_ONE: Readonly<Record<string, Word>> = {
  'listPools.chain_id': { about: 'Only pools of this chain.', example: 1 },
  'listPools.token_address': {
    about: 'Only pools of this token; needs chain_id.',
    example: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  },
  'exportLog.kind': {
    about: 'What the rows are: prices, events, retractions or candles.',
    example: 'prices',
  },
  'exportLog.interval': { about: 'Length of the candles, with kind=candles; 1h by default.', example: '1h' },
  'exportLog.from_ms': {
    about: 'Records committed from this time on, Unix milliseconds.',
    example: 1_763_164_800_000,
  },
  'exportLog.to_ms': {
    about: 'Records committed before this time, Unix milliseconds.',
    example: 1_763_251_200_000,
  },
  'exportLog.chain_id': { about: 'Only records of this chain.', example: 1 },
  'readHistory.include': {
    about:
      'withdrawn: also the prices that a reorganisation withdrew, with when and why; only of a range of prices.',
    example: 'withdrawn',
  },
  'createSession.chain_id': {
    about: 'Also returns a cursor from which to resume the stream of this chain; without it, only a session.',
    example: 1,
  },
  'quotePool.max_age_ms': {
    about: 'A state verified longer ago than this is read again or refused.',
    example: 60_000,
  },
}

/** The body of each operation. */
const BODIES: Readonly<Record<string, string>> = {
  createWebhook: 'The URL, the condition a record must meet, and a name of your choice.',
  replayWebhook: 'The sequence after which records are matched again.',
  quoteTokens: 'The tokens, at most 100, and the minimum score of a returned price.',
  issueKey: 'The consumer, the scopes and the expiry of the key.',
  setLimits: 'The limits, all of them.',
  setPolicy: 'Any subset of the policy; an empty object removes the overrides.',
  tryPolicy: 'Any subset of the policy.',
  startBackfill:
    'The chain and the range of blocks; by default from its first deployment to its finalized block.',
  confirmDecimals: 'The number of decimals that the token now returns.',
  setRetention: 'How long and how many records are kept.',
  causeIncident: 'The incident and its chain.',
}

/** Undefined if the entry is missing, which a test detects. */
export const parameterWord = (operationId: string, name: string): Word | undefined =>
  OF_ONE[`${operationId}.${name}`] ?? PARAMETERS[name]

export const bodyWords = (operationId: string): string | undefined => BODIES[operationId]
