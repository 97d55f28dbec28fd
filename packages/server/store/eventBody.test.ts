/** The text of an event is read back as it was written, whatever it was; and is short where it has the usual head. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../../engine/testing/cases.ts'
import { packBody, unpackBody } from './eventBody.ts'

const usual = fc
  .tuple(
    fc.integer({ min: 0, max: 9_999_999_999_999 }),
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
    fc.constantFrom('receipts', 'digest', 'none', 'other'),
    fc.constantFrom('', ',"amount0_in":"12","tick":-3'),
  )
  .map(
    ([timeMs, hash, proof, rest]) =>
      `{"block_time_ms":${timeMs},"transaction_hash":"0x${Buffer.from(hash).toString('hex')}","proof":"${proof}"${rest}}`,
  )

const text = fc.oneof(
  usual,
  fc.json().filter(each => each.startsWith('{')),
  usual.map(each => each.replace('0x', '0X')),
)

test('the text of an event is read back as it was written', () => {
  fc.assert(
    fc.property(text, body => {
      expect(unpackBody(packBody(body))).toBe(body)
      expect(unpackBody(body)).toBe(body)
    }),
    { numRuns: cases(2_000) },
  )
})

test('the usual head takes 53 characters', () => {
  const rest = ',"amount0_in":"1"}'
  const head = `{"block_time_ms":1750000005400,"transaction_hash":"0x${'ab'.repeat(32)}","proof":"receipts"`
  expect(packBody(head + rest).length).toBe(53 + rest.length)
})
