import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isOfToken, readEnvelope, unsealed } from './envelope.ts'
import type { RecordDraft } from './port.ts'
import {
  address,
  health,
  idOf,
  poolFacts,
  poolRetract,
  poolUpsert,
  swap,
  tokenRetract,
  tokenUpsert,
} from './testing/drafts.ts'

const seal = (
  record: RecordDraft,
  sequence: number,
  withdrawn: number | null,
  lastPriced: string | null = null,
) => unsealed(record).seal(sequence, withdrawn, lastPriced)

const head = { chainId: 1, recordId: '1-1-0' }
const ids = fc.array(
  fc.nat().map(each => idOf(address(each))),
  { maxLength: 5 },
)

test('an envelope is valid JSON, on one line, and its routing is read back from the text', () => {
  fc.assert(
    fc.property(ids, ids, fc.string(), fc.nat(), (poolIds, tokenIds, text, sequence) => {
      const record: RecordDraft = {
        ...health(1, text),
        routing: { chain_id: 1, pool_ids: poolIds, token_ids: tokenIds },
      }
      const { envelope, current } = seal(record, sequence, null)
      expect(JSON.parse(envelope)).toEqual({
        stream_sequence: sequence,
        routing: record.routing,
        type: 'FEED_HEALTH',
        payload: record.payload,
      })
      expect(envelope).not.toContain('\n')
      expect(readEnvelope(envelope)).toEqual({ type: 'FEED_HEALTH', poolIds, tokenIds })
      expect(JSON.parse(current as string)).toEqual(record.payload)
    }),
  )
})

test('the state after a record is, character by character, part of its envelope', () => {
  const upsert = seal(tokenUpsert(head, address('token'), '1'), 9, null)
  expect(upsert.envelope).toContain((upsert.current as string).slice(1))
  const retract = seal(tokenRetract(head, address('token'), '1-0-0'), 9, 4)
  expect(retract.envelope).toContain(
    `"retracted":{"record_id":"1-0-0","stream_sequence":4},"current":${retract.current}`,
  )
})

test('an upsert of a token or a pool is its head, then its state, which for a token has its sequence', () => {
  const token = tokenUpsert(head, address('token'), '1')
  const pool = poolUpsert(head, poolFacts('pool', address('token'), address('usd')), 5)
  for (const record of [token, pool]) {
    const { scope, chain_id, token_id, pool_id, record_id, ...state } = record.payload
    const { envelope, current } = seal(record, 9, null)
    const asOf = { as_of: { stream_sequence: 9, ...(state['as_of'] as object) } }
    const expected = scope === 'token' ? { ...state, ...asOf } : state
    expect(current).toBe(JSON.stringify(expected))
    expect(JSON.stringify(JSON.parse(envelope).payload)).toBe(
      JSON.stringify({ scope, chain_id, token_id, pool_id, record_id, ...expected }),
    )
  }
})

test('an upsert of a pool that does not begin with its head, in that order, is refused', () => {
  const { payload, ...record } = poolUpsert(head, poolFacts('pool', address('token'), address('usd')), 5)
  const { scope, ...rest } = payload
  expect(() => unsealed({ ...record, payload: { ...rest, scope } })).toThrow('does not begin with its head')
  expect(() => unsealed({ ...record, payload: { ...payload, record_id: '"' } })).toThrow(
    'begin with its head',
  )
})

test('the order of the fields in the head of a token changes nothing', () => {
  const record = tokenUpsert(head, address('token'), '1')
  const { scope, record_id, ...rest } = record.payload
  const shuffled = { ...record, payload: { record_id, ...rest, scope } }
  expect(seal(shuffled, 9, null)).toEqual(seal(record, 9, null))
})

test('only a token’s record counts as one of a token', () => {
  const pool = poolFacts('pool', address('token'), address('usd'))
  const isToken = (draft: RecordDraft): boolean => {
    const { envelope } = seal(draft, 9, 4)
    const at = { sequence: 9, chainId: 1, timeMs: 0, bytes: envelope.length }
    return isOfToken({ ...at, ...readEnvelope(envelope), envelope })
  }
  expect(
    [
      tokenUpsert(head, address('token'), '1'),
      tokenRetract(head, address('token'), '1-0-0'),
      poolUpsert(head, pool, 5),
      poolRetract(head, pool, '1-0-0', null),
      swap(1, pool, 0),
      health(1, '"payload":{"scope":"token"'),
    ].map(isToken),
  ).toEqual([true, true, false, false, false, false])
})

test('a price record that names no token is refused', () => {
  const record = tokenUpsert(head, address('token'), '1')
  expect(unsealed(record).subject).toEqual({
    kind: 'token',
    address: address('token'),
    recordId: '1-1-0',
    point: {
      atMs: 12_345,
      blockNumber: 1_001,
      price: expect.stringMatching(/^\d+\/\d+$/),
      expiresAtMs: 99_999,
    },
  })
  for (const missing of ['scope', 'token_id', 'record_id'])
    expect(() => unsealed({ ...record, payload: { ...record.payload, [missing]: undefined } })).toThrow(
      'names no token or pool',
    )
})
