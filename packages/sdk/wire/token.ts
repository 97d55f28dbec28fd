/** A token: its identity is the pair (chain_id, token_address); symbol and name are whatever the token reports. */
import { Chain } from './chain.ts'
import { Address, AddressInput, ChainId, Id, PoolAddressInput } from './identifier.ts'
import { NextCursor, pageQueryFields } from './page.ts'
import { Pool } from './pool.ts'
import { CompactState, PriceChange, TokenState } from './price.ts'
import { Decimals, Microusd, Ms, PlainDecimal } from './quantity.ts'
import {
  array,
  describe,
  enumeration,
  nullable,
  object,
  optional,
  pattern,
  type Static,
  strictObject,
  string,
} from './schema.ts'

export const TokenRole = enumeration(['STABLE', 'ROUTING', 'TOKEN'])

export const Token = object({
  chain_id: ChainId,
  token_address: Address,
  token_id: Id,
  symbol: nullable(string()),
  name: nullable(string()),
  decimals: nullable(Decimals),
  decimals_reason: optional(describe('Why decimals is null.', string())),
  role: TokenRole,
  state: TokenState,
  price: describe('Null while PENDING.', nullable(CompactState)),
  enrolled_at_ms: nullable(Ms),
  change: optional(
    describe(
      'With `include=change`: as in the token quote; null without a price then or now.',
      nullable(PriceChange),
    ),
  ),
  spark: optional(
    describe(
      'With `include=spark`: 24 hourly prices, oldest first, the last as of now, rounded as `display` is; null where there was none.',
      array(nullable(PlainDecimal)),
    ),
  ),
  depth_microusd: optional(
    describe(
      'With `include=depth`: the total that moves all its pools by 2%; null if no pool has a known depth.',
      nullable(Microusd),
    ),
  ),
})
export type Token = Static<typeof Token>

export const TokenList = object({ tokens: array(Token), next_cursor: NextCursor })
export type TokenList = Static<typeof TokenList>

/** Query of GET /v1/tokens. */
export const TokensQuery = strictObject({
  chain_id: ChainId,
  include: optional(
    describe(
      'Additional columns, separated by commas: `change`, `spark`, `depth`.',
      pattern('^(?:change|spark|depth)(?:,(?:change|spark|depth)){0,2}$'),
    ),
  ),
  ...pageQueryFields,
})
export type TokensQuery = Static<typeof TokensQuery>

/** Path of everything about one token. */
export const TokenPath = strictObject({ chain_id: ChainId, token_address: AddressInput })
export type TokenPath = Static<typeof TokenPath>

/** Query of GET /v1/search: exactly one of the two. */
export const SearchQuery = strictObject({
  address: optional(PoolAddressInput),
  q: optional(
    describe('Symbol or name of a token, or a part of it.', string({ minLength: 1, maxLength: 64 })),
  ),
})
export type SearchQuery = Static<typeof SearchQuery>

/** Everything known under an address or a text, per chain; records are never merged across chains. */
export const SearchResult = object({
  chains: describe(
    'The chains of the results, and those whose factory or wrapped native token has the address.',
    array(Chain),
  ),
  tokens: array(Token),
  pools: array(Pool),
})
export type SearchResult = Static<typeof SearchResult>
