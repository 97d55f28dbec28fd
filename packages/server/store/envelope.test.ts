import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEnvelope, seal, sequenceQuote, subjectOf } from './envelope.ts'
import type { RecordDraft } from './port.ts'
import { address, health, idOf, tokenRetract, tokenUpsert } from './testing/drafts.ts'

const json = fc.jsonValue({ maxDepth: 4 })
/** Strings that look like the text around them. */
const tricky = fc.constantFrom('"as_of":{', '\\', '\\"', '{', '}]', '\\\\"as_of":{', '"')
const value = fc.oneof(json, tricky, fc.record({ as_of: fc.record({ block_number: fc.nat() }) }))
// No escapes in keys: JSON.parse of V8 13.6 takes the key "\"" for "\\" after an object that had one there.
const fields = fc.dictionary(fc.stringMatching(/^[a-z_:{}]{0,6}$/), value)

test('a quote gets its sequence in its own as_of, whatever stands around it', () => {
  fc.assert(
    fc.property(fields, fields, fc.nat(), (before, after, sequence) => {
      const own = { as_of: { block_number: 7 } }
      const quote = Object.assign({}, before, own, after, own)
      const sequenced = JSON.parse(sequenceQuote(JSON.stringify(quote), sequence))
      expect(sequenced).toEqual(
        JSON.parse(JSON.stringify({ ...quote, as_of: { stream_sequence: sequence, block_number: 7 } })),
      )
    }),
    { numRuns: 1_000 },
  )
})

test('a quote without an as_of of its own is refused', () => {
  const nested = JSON.stringify({ routing_assets: [{ as_of: { block_number: 1 } }], note: 'as_of' })
  expect(() => sequenceQuote(nested, 1)).toThrow('no as_of')
  expect(() => sequenceQuote('{"note":"', 1)).toThrow('does not end')
})

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

test('the state a record leaves behind is, character by character, part of its envelope', () => {
  const id = { chainId: 1, recordId: '1-1-0' }
  const upsert = seal(tokenUpsert(id, address('token'), '1'), 9, null)
  expect(upsert.envelope).toContain((upsert.current as string).slice(1))
  const retract = seal(tokenRetract(id, address('token'), '1-0-0'), 9, 4)
  expect(retract.envelope).toContain(
    `"retracted":{"record_id":"1-0-0","stream_sequence":4},"current":${retract.current}`,
  )
})

test('a price record that names nobody is refused', () => {
  const record = tokenUpsert({ chainId: 1, recordId: '1-1-0' }, address('token'), '1')
  expect(subjectOf(record)).toEqual({ kind: 'token', address: address('token'), recordId: '1-1-0' })
  for (const missing of ['scope', 'token_id', 'record_id'])
    expect(() => subjectOf({ ...record, payload: { ...record.payload, [missing]: undefined } })).toThrow(
      'names no token or pool',
    )
})
