/** Compressed texts come back as they were, with any dictionary that was ever newest; a flipped byte is found where it is. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { damageIn, type Dictionaries, pack, unpack } from './packed.ts'
import { packRecords, unpackRecords } from './logRow.ts'
import { StoreError } from './storeError.ts'
import type { LogRecord } from './port.ts'
import { unsealed } from './envelope.ts'
import { scriptedCommit } from './testing/script.ts'
import { generator } from './testing/generator.ts'
import { poolFacts, swap } from './testing/drafts.ts'

const text = fc.oneof(fc.string({ maxLength: 3_000 }), fc.string({ unit: 'grapheme', maxLength: 300 }))
const DICTIONARIES: Dictionaries = [null, Buffer.from('{"stream_sequence":1,"routing"'), Buffer.from('other')]

test('a text is restored, also when newer dictionaries have been added since', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: DICTIONARIES.length }), (said, known) => {
      const packed = pack(said, DICTIONARIES.slice(0, known))
      expect(unpack(packed, DICTIONARIES)).toBe(said)
      expect(damageIn(packed)).toBe(null)
    }),
    { numRuns: 300 },
  )
})

test('a flipped byte is located to its kilobyte', () => {
  const next = generator(7)
  const long = Array.from({ length: 2_000 }, () => next().toString(36)).join('')
  const whole = pack(long)
  expect(whole.length).toBeGreaterThan(4_096)
  fc.assert(
    fc.property(fc.nat(whole.length - 1), at => {
      const flipped = Buffer.from(whole)
      flipped[at] = (flipped[at] as number) ^ 0xff
      const found = damageIn(flipped)
      expect(found).not.toBe(null)
      // A checksum that was flipped stands behind the text, and names the kilobyte that it is of.
      if (at < 1_024 * Math.floor(whole.length / 1_028)) expect(found).toBe(1_024 * Math.floor(at / 1_024))
    }),
    { numRuns: 300 },
  )
})

test('an unreadable one is reported with a clear message', () => {
  for (const bytes of [Buffer.from([]), Buffer.from([9, 1, 2, 3, 4, 5]), pack('text').subarray(3)])
    expect(() => unpack(bytes)).toThrow(StoreError)
})

test('a row of the log is at most a quarter of its records, also for a few', () => {
  const pool = poolFacts(1, '0x1', '0x2')
  const many = Array.from({ length: 100 }, (_, at) => unsealed(swap(1, pool, at)))
  for (const drafts of [scriptedCommit(1, 1).records, many.slice(0, 3), many]) {
    const envelopes = drafts.map((each, at) => each.seal(at + 1, null, null).envelope)
    const rows = packRecords(1, envelopes)
    const records: LogRecord[] = []
    for (const row of rows)
      unpackRecords(records, { ...row, body: '', chainId: 1, timeMs: 0 }, 0, envelopes.length)
    expect(records.map(({ envelope }) => envelope)).toEqual(envelopes)
    const stored = rows.reduce((sum, { packed }) => sum + packed.length, 0)
    expect(stored).toBeLessThan(envelopes.join('\n').length / 4)
  }
})
