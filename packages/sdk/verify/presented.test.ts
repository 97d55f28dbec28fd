import { DEFAULT_POLICY, policyVersion } from '@assay/engine/rules'
import { expect, test } from 'vitest'
import * as sample from '../testing/sample.ts'
import { presentedAs } from '../wire/presented.ts'
import type { FeedStatus } from '../wire/health.ts'
import type { UnpricedQuote } from '../wire/quote.ts'
import { verify } from './verify.ts'

const policy_version = policyVersion(DEFAULT_POLICY)
const stored = { ...sample.priced(151, 7, sample.NOW_MS + 1000), policy_version }
const head = {
  chain_id: sample.CHAIN,
  token: sample.address(1),
  source: 'RETRIEVED',
  last_trade_ms: null,
} as const
const quote = (reason: 'FEED' | 'ROUTE_EXPIRED'): UnpricedQuote => ({
  ...presentedAs(stored, reason),
  ...head,
  candidates: [],
})
const history = (status: FeedStatus, state: object = stored) => ({
  prices: [state as typeof stored],
  next_cursor: null,
  feed: { chain_id: sample.CHAIN, status, reasons: [] },
})
const pathsOf = async (...given: Parameters<typeof verify>) =>
  (await verify(...given)).differences.map(({ path }) => path)

test('a presented quote verifies: the record behind it, then the reason it is withheld', async () => {
  expect(await verify(quote('FEED'), { history: history('GAP') })).toMatchObject({ verified: true })
  expect(await verify(quote('ROUTE_EXPIRED'), { history: history('HEALTHY') })).toMatchObject({
    verified: true,
  })
})

test('a price withheld while its feed is healthy does not verify', async () => {
  expect(await pathsOf(quote('FEED'), { history: history('HEALTHY') })).toEqual(['reason'])
})

test('a price withheld as expired that never expires does not verify', async () => {
  const lasting = history('HEALTHY', { ...stored, expires_at_ms: null })
  expect(await pathsOf(quote('ROUTE_EXPIRED'), { history: lasting })).toEqual(['reason'])
})

test('a record with another price, score or place does not verify', async () => {
  const other = { ...stored, price_usd: sample.priced(153, 7).price_usd }
  expect(await pathsOf(quote('FEED'), { history: history('GAP', other) })).toEqual([
    'last_priced.price_usd.numerator',
    'last_priced.price_usd.display',
  ])
  const better = { ...stored, confidence: { ...stored.confidence, score: 9 } }
  expect(await pathsOf(quote('FEED'), { history: history('GAP', better) })).toEqual(['last_priced.score'])
  const moved = { ...stored, as_of: { ...stored.as_of, stream_sequence: 8 } }
  expect(await pathsOf(quote('FEED'), { history: history('GAP', moved) })).toEqual([
    'as_of.stream_sequence',
    'last_priced.stream_sequence',
  ])
  const nothing = { prices: [], next_cursor: null }
  expect(await pathsOf(quote('FEED'), { history: nothing })).toEqual(['as_of.stream_sequence'])
})
