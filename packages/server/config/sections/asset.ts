/** Assets of a chain that prices are based on, with the dollar feeds they are compared with. */
import type { Address } from '../../ops/hex.ts'
import type { FaultLog } from '../faultLog.ts'
import { either, integer, list, mapping, nullish } from '../field.ts'
import { address, exampleAddress } from '../formats.ts'

const A_WEEK_S = 604_800

/** A Chainlink feed in dollars. */
const feed = (about: string, late: string) =>
  nullish(
    mapping(about, {
      address: address('The feed.', { examples: [exampleAddress(3)] }),
      heartbeat_s: integer('The longest time between two answers, in seconds.', [1, A_WEEK_S, 'seconds'], {
        examples: [3600],
      }),
      grace_s: integer(late, [0, A_WEEK_S, 'seconds'], { default: 1800 }),
    }),
  )

export const STABLES = list(
  'Tokens that count as a dollar, each with its feed.',
  mapping('', {
    token_address: address('The stable.', { examples: [exampleAddress(2)] }),
    usd_feed: feed(
      'Its Chainlink feed; null for a nominal dollar, which caps the score at 3.',
      'How late an answer may be beyond that, in seconds.',
    ),
  }),
  { unique: ['token_address'] },
)

export const ROUTING_ASSETS = list(
  'Assets that routes may go through, each an address or a mapping with its feed. Ordered: each is priced from stables and those before it.',
  either(
    address(''),
    mapping('', {
      token_address: address('The asset.', { examples: [exampleAddress(2)] }),
      usd_feed: feed(
        'Its Chainlink feed in dollars: a price more than 2% from it is capped (ANCHOR_DISPUTED). It never sets the price.',
        'How late an answer may be beyond that, in seconds; after that the feed counts as silent.',
      ),
    }),
  ),
  { rule: eachAssetOnce },
)

type Asset = Address | { readonly token_address: Address }

function eachAssetOnce(assets: readonly Asset[], path: string, faults: FaultLog): void {
  const addresses = assets.map(asset => (typeof asset === 'string' ? asset : asset.token_address))
  faults.addRepeated(addresses, path, '')
}
