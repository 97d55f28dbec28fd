/** Frames of records as they come from a row of the log, whatever letters stand in them. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { unsealed } from '../store/envelope.ts'
import { packRecords, unpackRecords } from '../store/logRow.ts'
import type { LogRecord } from '../store/port.ts'
import { health } from '../store/testing/drafts.ts'
import { framed, Frames, WEB_SOCKET } from './frames.ts'

function recordsOf(words: readonly string[]): LogRecord[] {
  const envelopes = words.map((word, at) => unsealed(health(1, word)).seal(at + 1, null, null).envelope)
  const records: LogRecord[] = []
  for (const row of packRecords(1, envelopes))
    unpackRecords(records, { ...row, body: '', chainId: 1, timeMs: 0 }, 0, words.length)
  return records
}

/** A frame by the letter of RFC 6455, from bytes made by someone else. */
function frameOf(text: string): Buffer {
  const payload = Buffer.from(text)
  const length = payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 255]
  return Buffer.concat([Buffer.from([0x81, ...length]), payload])
}

it('a record is framed by its bytes, in a row of ASCII and in one with other characters', () => {
  const word = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.constantFrom('é', '€', '𝄞', 'ÿ'),
  )
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), words => {
      const records = recordsOf(words)
      expect(records.map(({ bytes }) => bytes)).toEqual(
        records.map(({ envelope }) => Buffer.from(envelope).length),
      )
      const expected = Buffer.concat(records.map(({ envelope }) => frameOf(envelope)))
      expect(framed(records, WEB_SOCKET).equals(expected)).toBe(true)
    }),
    { numRuns: 300 },
  )
})

it('a record of 64 KiB and more has its length in eight bytes', () => {
  const [record] = recordsOf(['x'.repeat(70_000)]) as [LogRecord]
  const frame = framed([record], WEB_SOCKET)
  expect([...frame.subarray(0, 2), frame.readBigUInt64BE(2)]).toEqual([0x81, 127, BigInt(record.bytes)])
  expect(frame.subarray(10).toString()).toBe(record.envelope)
})

it('frames are kept for the newest records up to a number of bytes; one made again is the same', () => {
  const records = recordsOf(Array.from({ length: 20 }, (_, at) => `${at}`.repeat(50)))
  const [length] = records.map(record => framed([record], WEB_SOCKET).length) as [number]
  let made = 0
  const head = (record: LogRecord): Buffer => {
    made += 1
    return WEB_SOCKET.head(record)
  }
  // Room for five of the longest, whose numbers have two digits.
  const frames = new Frames({ ...WEB_SOCKET, head }, 5 * (length + 51))
  for (const record of records) {
    expect(frames.of(record).equals(framed([record], WEB_SOCKET))).toBe(true)
    expect(frames.of(record)).toBe(frames.of(record))
  }
  expect(made).toBe(20)
  for (const record of records.slice(-5)) frames.of(record)
  expect(made).toBe(20)
  const oldest = records[0] as LogRecord
  expect(frames.of(oldest).equals(framed([oldest], WEB_SOCKET))).toBe(true)
  expect(made).toBe(21)
})
