/** One chain. Omitted values come from the built-in table if it has this chain: same id, same genesis. */
import { CHAIN_TABLE } from '../chainTable.ts'
import { choice, type Given, integer, list, mapping, nullish, text, url, variants } from '../field.ts'
import { address, addresses, hash, MAX } from '../formats.ts'
import { ROUTING_ASSETS, STABLES } from './asset.ts'
import { DEPLOYMENTS, UNPRICED_FACTORY } from './deployment.ts'

const ENDPOINT = mapping('', {
  name: text(
    'The name shown in health and logs, which never show the URL.',
    [/^[\w.-]{1,60}$/, 'a name for logs and health'],
    { examples: ['own-node'] },
  ),
  url: url(
    'An http, https, ws or wss URL; "${NAME}" is filled from the environment.',
    ['https', 'http', 'wss', 'ws'],
    { examples: ['ws://127.0.0.1:8546'] },
  ),
})

const CHECKPOINT = mapping(
  'A block that every endpoint must have: distinguishes forks with the same genesis.',
  {
    block_number: integer('Its number.', [0, MAX], { examples: [20_000_000] }),
    block_hash: hash('Its hash.'),
  },
)

const FINALITY = variants(
  'When a block is final: { tag: finalized }, or { depth: N } if nodes lack that tag.',
  {
    tag: { tag: choice('The tag that nodes support.', ['finalized'], { default: 'finalized' }) },
    depth: {
      depth: integer('The number of blocks after which one is final.', [1, 100_000, 'blocks'], {
        examples: [64],
      }),
    },
  },
  ({ depth }) => (depth === undefined ? 'tag' : 'depth'),
)

const PROOF = mapping(
  'What the blocks of the chain prove about themselves. `assay doctor` detects it and prints the lines; see docs/NODES.md.',
  {
    header: choice(
      'standard: the fields of a header give its hash; opaque: they do not, so no single endpoint can prove a block.',
      ['standard', 'opaque'],
      { default: 'standard' },
    ),
    receipts: choice(
      'standard: the receipts give the root in the header; op_stack: the same with deposits; none: they do not.',
      ['standard', 'op_stack', 'none'],
      { default: 'standard' },
    ),
  },
)

export const CHAIN = mapping(
  '',
  {
    chain_id: integer('The chain id that endpoints must return.', [1, MAX], { examples: [1, 56] }),
    name: text('A display name.', [/^.{1,60}$/, 'a name'], { examples: ['Ethereum'], isBuiltIn: true }),
    endpoints: list('JSON-RPC nodes; two of different providers are better than one.', ENDPOINT, {
      unique: ['name'],
      atLeastOne: 'at least one endpoint: [{ name: own-node, url: "http://127.0.0.1:8545" }]',
    }),
    genesis_hash: hash(
      'Hash of block 0, checked at every endpoint; an endpoint of another chain is not used.',
      {
        examples: ['0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3'],
        isBuiltIn: true,
      },
    ),
    checkpoint: nullish(CHECKPOINT),
    block_time_ms: integer(
      'Expected time between blocks, in milliseconds.',
      // No chain makes blocks faster than the minimum; a smaller number is in seconds.
      [50, 3_600_000, 'milliseconds'],
      { examples: [12_048], isBuiltIn: true },
    ),
    start_behind_s: integer(
      'How far behind the head a new chain starts, in seconds, and at most 64 blocks. With 330 the five-minute medians are complete from the start, if the node still has that state.',
      [0, 3600, 'seconds'],
      {
        default: 0,
        examples: [330],
      },
    ),
    finality: FINALITY,
    proof: PROOF,
    wrapped_native: address('The wrapped native token; list it in routing_assets too if it is one.', {
      isBuiltIn: true,
    }),
    deployments: DEPLOYMENTS,
    unpriced_factories: list(
      'Factories of families that Assay recognises but does not price: a token with no other pool gets the reason UNSUPPORTED_FAMILY, which names one.',
      UNPRICED_FACTORY,
      { unique: ['factory_address'] },
    ),
    stables: STABLES,
    sequencer_uptime_feed: nullish(address('For an L2: the feed that reports whether the sequencer is up.')),
    routing_assets: ROUTING_ASSETS,
    pools: addresses('Pools to track from the start.'),
    tokens: addresses('Tokens to enrol from the start.'),
  },
  { fill: fromTable },
)

export const CHAINS = list(
  'The chains to serve. For a built-in chain, chain_id and endpoints are enough.',
  CHAIN,
  { unique: ['chain_id'], atLeastOne: 'at least one chain' },
)

/** A given key replaces the table's. A local chain may borrow an id: with a genesis of its own it is another chain. */
function fromTable(given: Given): Given {
  const chainId = given['chain_id']
  const known = (typeof chainId === 'number' ? CHAIN_TABLE[chainId] : undefined) ?? {}
  const genesis = given['genesis_hash']
  const isSame =
    genesis === undefined || (typeof genesis === 'string' && genesis.toLowerCase() === known['genesis_hash'])
  return isSame ? { ...known, ...given } : given
}
