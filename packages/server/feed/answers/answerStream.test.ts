/** A response parsed while it arrives gives the same as the whole, wherever it is split. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AnswerStream, AnswerTooLarge, NotAnAnswer } from './answerStream.ts'
import { LogEntry, ReceiptEntry, toLogEntry, toReceiptEntry } from './entry.ts'

const RUNS = 300 * Number(process.env['ASSAY_CASES_SCALE'] ?? 1)
const BODY = 1 << 20

const digits = (count: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${count}}$`))
const hash = digits(64).map(text => `0x${text}`)
const count = fc.integer({ min: 0, max: 9999 }).map(value => `0x${value.toString(16)}`)
const place = { blockHash: hash, blockNumber: count, transactionHash: hash, transactionIndex: count }
const log = fc.record({
  ...place,
  address: digits(40).map(text => `0x${text}`),
  topics: fc.array(hash, { maxLength: 4 }),
  data: fc.uint8Array({ maxLength: 100 }).map(bytes => `0x${Buffer.from(bytes).toString('hex')}`),
  logIndex: count,
  removed: fc.constant(false),
})
/** Beside what matters: a value with punctuation, quotes and a list of its own, after and before the logs. */
const odd = fc.constantFrom('plain', 'a "quoted" \\ {one}', ['[', { logs: [{ a: [1] }] }, ']'])
const receipt = fc
  .record({
    ...place,
    before: odd,
    status: fc.constantFrom('0x0', '0x1'),
    cumulativeGasUsed: count,
    logs: fc.array(log, { maxLength: 6 }),
    logsBloom: fc.constant(`0x${'5a'.repeat(256)}`),
    after: odd,
  })
  .map(({ before, after, ...fields }) => ({ before, ...fields, after }))

const contentOf = (item: unknown): unknown => {
  if (item instanceof LogEntry) {
    const {
      address,
      topics,
      data,
      topic,
      blockHash,
      blockNumber,
      transactionHash,
      transactionIndex,
      logIndex,
    } = item
    return [address, topics, data, topic, blockHash, blockNumber, transactionHash, transactionIndex, logIndex]
  }
  if (!(item instanceof ReceiptEntry)) return item
  const { type, outcome, cumulativeGasUsed, logsBloom, blockHash, transactionHash, logs } = item
  return [type, outcome, cumulativeGasUsed, logsBloom, blockHash, transactionHash, logs.map(contentOf)]
}

/** Pushes the text in parts of these sizes, over and over. */
function read(text: string, sizes: readonly number[], stretch?: number): Readonly<Record<string, unknown>> {
  const bytes = Buffer.from(text)
  const stream = new AnswerStream(BODY, stretch)
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? 1
    // A copy: a socket reuses its buffer.
    const part = Buffer.from(bytes.subarray(at, at + size))
    stream.push(part)
    part.fill(0)
    at += size
  }
  return stream.end()
}

const sizes = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 5 })
const indent = fc.constantFrom(undefined, 1)

describe('a response in parts', () => {
  it('gives the receipts of the whole, with large ones parsed in pieces too', () => {
    fc.assert(
      fc.property(
        fc.array(receipt, { maxLength: 6 }),
        sizes,
        indent,
        fc.constantFrom(200, 5000),
        (receipts, parts, spaces, stretch) => {
          const text = JSON.stringify({ jsonrpc: '2.0', id: 7, result: receipts }, null, spaces)
          const { id, result } = read(text, parts, stretch)
          expect(id).toBe(7)
          expect((result as unknown[]).map(contentOf)).toEqual(receipts.map(toReceiptEntry).map(contentOf))
        },
      ),
      { numRuns: RUNS },
    )
  })

  it('gives the logs of the whole, whichever key comes last', () => {
    fc.assert(
      fc.property(fc.array(log, { maxLength: 12 }), sizes, indent, (logs, parts, spaces) => {
        const text = JSON.stringify({ result: logs, id: 7, jsonrpc: '2.0' }, null, spaces)
        const { id, result } = read(text, parts, 200)
        expect(id).toBe(7)
        expect((result as unknown[]).map(contentOf)).toEqual(logs.map(toLogEntry).map(contentOf))
      }),
      { numRuns: RUNS },
    )
  })

  it('gives one receipt as well', () => {
    fc.assert(
      fc.property(receipt, sizes, indent, (one, parts, spaces) => {
        const { result } = read(
          JSON.stringify({ id: 1, result: one, jsonrpc: '2.0' }, null, spaces),
          parts,
          200,
        )
        expect(contentOf(result)).toEqual(contentOf(toReceiptEntry(one)))
      }),
      { numRuns: RUNS },
    )
  })

  it('gives what the whole gives when it is something else', () => {
    for (const answer of [
      { id: 1, error: { code: -32000, message: 'response size [exceeded] "10 MB"' } },
      { id: 1, result: null },
      { id: 1, result: '0x1' },
      { id: 1, result: [] },
      { id: 1, result: { number: '0x1', transactions: ['0x2', '0x3'] } },
    ])
      expect(read(JSON.stringify(answer), [3])).toEqual(answer)
  })
})

describe('an incomplete response', () => {
  const receipts = fc.sample(receipt, { numRuns: 3, seed: 5 })
  const text = JSON.stringify({ jsonrpc: '2.0', id: 7, result: receipts })

  it('is refused wherever it ends', () => {
    for (let end = 1; end < text.length; end += 7)
      expect(() => read(text.slice(0, end), [97], 300), `${end}`).toThrow(NotAnAnswer)
  })

  it.each([
    ['a bracket too many', text.replace(/\]\}$/, ']]}')],
    ['no comma between two entries', text.replace('},{"before"', '}{"before"')],
    ['something else in its place', text.replace('},{"before"', '}x{"before"')],
    ['two commas between them', text.replace('},{"before"', '},,{"before"')],
    ['a comma after the last', text.replace(/\]\}$/, ',]}')],
    ['something between them', text.replace('},{"before"', '},x{"before"')],
    ['text after its end', `${text}x`],
    ['a key without quotes', text.replace('"status"', 'status')],
  ])('is refused with %s', (_what, wrong) => {
    for (const stretch of [300, 100_000]) expect(() => read(wrong, [211], stretch)).toThrow(NotAnAnswer)
  })

  it('is not buffered past its limit: neither whitespace, nor an endless string', () => {
    for (const endless of [' ', `{"jsonrpc":"2.0","id":"${'x'.repeat(64)}`]) {
      const stream = new AnswerStream(BODY)
      let pushed = 0
      const push = () => {
        for (let part = Buffer.from(endless); ; part = Buffer.alloc(65_536, 0x20)) {
          pushed += part.length
          stream.push(part)
        }
      }
      expect(push).toThrow(AnswerTooLarge)
      expect(pushed).toBeLessThan(BODY + 2 * 65_536)
    }
  })
})
