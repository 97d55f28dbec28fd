import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scanAnswer } from './answerScanner.ts'
import { LogEntry, type ReceiptEntry, toLogEntry, toReceiptEntry } from './entry.ts'
import { EVERY_KIND, type LocalChain, mineTransactions, startLocalChain } from '../testing/localChain.ts'

const RUNS = 400 * Number(process.env['ASSAY_CASES_SCALE'] ?? 1)

const digits = (count: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${count}}$`))
const hex = (bytes: number) => digits(2 * bytes).map(text => `0x${text}`)
const someHash = fc.oneof(hex(32), fc.constantFrom(`0x${'ab'.repeat(32)}`, `0x${'12'.repeat(32)}`))
const quantity = fc.bigInt(0n, (1n << 52n) - 1n).map(value => `0x${value.toString(16)}`)
const small = fc.integer({ min: 0, max: 5000 }).map(value => `0x${value.toString(16)}`)
const bytes = fc.uint8Array({ maxLength: 200 }).map(each => `0x${Buffer.from(each).toString('hex')}`)

type Member = readonly [key: string, value: unknown]

/** Fields in any order, with others between them that do not matter. */
const shuffled = (fields: readonly Member[], others: readonly Member[]): fc.Arbitrary<object> =>
  fc
    .shuffledSubarray([...fields, ...others], {
      minLength: fields.length + others.length,
      maxLength: fields.length + others.length,
    })
    .map(members => Object.fromEntries(members))

const others = fc.subarray<Member>([
  ['dat', 'x'],
  ['dates', null],
  ['timeboosted', false],
  ['l1Fee', 'a sentence, with {punctuation}: [all] of it'],
  ['contractAddress', null],
  ['blockTimestamp', 1_794_743_624],
  ['a key that is longer than any that matters', true],
])

const place = {
  blockHash: someHash,
  blockNumber: quantity,
  transactionHash: someHash,
  transactionIndex: small,
}

const logFields = fc.record({
  ...place,
  address: hex(20),
  topics: fc.array(someHash, { maxLength: 4 }),
  data: bytes,
  logIndex: small,
  removed: fc.constant(false),
})
const log = fc.tuple(logFields, others).chain(([fields, more]) => shuffled(Object.entries(fields), more))
const receiptFields = fc.record({
  ...place,
  type: fc.constantFrom('0x0', '0x1', '0x2', '0x7e', '0x7f'),
  status: fc.constantFrom('0x0', '0x1'),
  cumulativeGasUsed: quantity,
  logsBloom: hex(256),
  logs: fc.array(log, { maxLength: 3 }),
})
/** Of a deposit, and now and then of something else. */
const deposits = fc.constantFrom<readonly Member[]>(
  [],
  [['depositNonce', '0x2efaea6']],
  [
    ['depositNonce', '0x0'],
    ['depositReceiptVersion', '0x1'],
  ],
)
const receipt = fc
  .tuple(receiptFields, others, deposits)
  .chain(([fields, more, deposit]) => shuffled([...Object.entries(fields), ...deposit], more))

const list = fc.oneof(
  fc.array(log, { minLength: 1, maxLength: 5 }),
  fc.array(receipt, { minLength: 1, maxLength: 3 }),
)
const answer = fc.tuple(list, fc.nat()).chain(([result, id]) =>
  shuffled(
    [
      ['jsonrpc', '2.0'],
      ['id', id],
      ['result', result],
    ],
    [],
  ),
)

type Read = { readonly id: unknown; readonly result: readonly unknown[] }

/** What the strict reading of the parsed answer gives; throws where it refuses. */
function strictly(body: Buffer): Read {
  const { id, result } = JSON.parse(body.toString('utf8')) as { id: unknown; result: readonly object[] }
  return shown({ id, result: result.map(item => ('logs' in item ? toReceiptEntry(item) : toLogEntry(item))) })
}

/** The value, whatever its position. */
function shown({
  id,
  result,
}: {
  readonly id: unknown
  readonly result: readonly (LogEntry | ReceiptEntry)[]
}): Read {
  return {
    id,
    result: result.map(entry => (entry instanceof LogEntry ? logShown(entry) : receiptShown(entry))),
  }
}

function logShown(entry: LogEntry): object {
  const { address, topic, topics, data, logIndex, topicCount } = entry
  expect([topic, topicCount]).toEqual([topics[0] ?? null, topics.length])
  expect(hexAt(entry.text, entry.addressAt, 40)).toBe(address)
  return { ...placeShown(entry), address, topics, data, logIndex }
}

function receiptShown(entry: ReceiptEntry): object {
  const { type, outcome, cumulativeGasUsed, logsBloom, logs, deposit } = entry
  const own = { type, outcome, cumulativeGasUsed, logsBloom, deposit }
  return { ...placeShown(entry), ...own, logs: logs.map(logShown) }
}

const placeShown = ({
  blockHash,
  blockNumber,
  transactionHash,
  transactionIndex,
}: LogEntry | ReceiptEntry): object => ({
  blockHash,
  blockNumber,
  transactionHash,
  transactionIndex,
})

const hexAt = ({ buffer, byteOffset }: DataView, at: number, digits: number): string =>
  `0x${Buffer.from(buffer, byteOffset + at, digits).toString()}`

/** Null where it gives up. */
function scan(body: Buffer): Read | null {
  const scanned = scanAnswer(body)
  return scanned === null ? null : shown(scanned)
}

describe('the scanner', () => {
  it('parses what nodes write as the parser does', () => {
    fc.assert(
      fc.property(answer, fc.constantFrom('', '\n'), (value, end) => {
        const body = Buffer.from(JSON.stringify(value) + end)
        expect(scan(body)).toEqual(strictly(body))
      }),
      { numRuns: RUNS },
    )
  })

  it('agrees with the parser or declines, whatever the bytes', () => {
    let understood = 0
    const changes = fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        cut: fc.nat({ max: 3 }),
        put: fc.oneof(
          fc.constantFrom(
            '',
            '"',
            '\\',
            ',',
            ':',
            '0',
            'A',
            'f',
            'null',
            '0x',
            ' ',
            '}',
            ']',
            '{',
            '[',
            '\u00e9',
          ),
          fc.string({ maxLength: 3 }),
        ),
      }),
      { minLength: 1, maxLength: 3 },
    )
    fc.assert(
      fc.property(answer, changes, (value, faults) => {
        let text = JSON.stringify(value)
        for (const { at, cut, put } of faults) {
          const start = Math.floor(at * text.length)
          text = text.slice(0, start) + put + text.slice(start + cut)
        }
        const body = Buffer.from(text)
        const scanned = scan(body)
        if (scanned === null) return
        understood++
        expect(scanned).toEqual(strictly(body))
      }),
      { numRuns: 5 * RUNS },
    )
    expect(understood).toBeGreaterThan(0)
  })

  const one = {
    address: `0x${'11'.repeat(20)}`,
    topics: [`0x${'22'.repeat(32)}`],
    data: '0x00',
    blockHash: `0x${'33'.repeat(32)}`,
    blockNumber: '0x10',
    transactionHash: `0x${'44'.repeat(32)}`,
    transactionIndex: '0x0',
    logIndex: '0x0',
    removed: false,
  }
  const text = JSON.stringify({ jsonrpc: '2.0', id: 7, result: [one] })
  const replaced = (from: string, to: string): string => {
    expect(text).toContain(from)
    return text.replace(from, to)
  }

  it('accepts the response that the next test corrupts', () => {
    expect(scanAnswer(Buffer.from(text))).toMatchObject({ id: 7, result: [{ blockNumber: 16 }] })
  })

  it.each([
    ['capitals', () => replaced('1111', '11AB')],
    ['a space', () => replaced('"data":', '"data": ')],
    ['an escape', () => replaced('"0x00"', '"0x0\\u0030"')],
    ['an escape in a key', () => replaced('"data"', '"dat\\u0061"')],
    ['half a byte', () => replaced('"0x00"', '"0x000"')],
    ['a hash too short', () => replaced('4444', '44')],
    ['a key twice', () => replaced('"data":"0x00"', '"data":"0x00","data":"0x01"')],
    ['a log that was removed', () => replaced('false', 'true')],
    ['a number where hex belongs', () => replaced('"0x10"', '16')],
    ['a count past 2^52', () => replaced('"0x10"', '"0x10000000000000"')],
    ['an empty count', () => replaced('"0x10"', '"0x"')],
    ['null', () => replaced(`"0x${'33'.repeat(32)}"`, 'null')],
    ['a missing field', () => replaced('"logIndex":"0x0",', '')],
    ['a list in an unused field', () => replaced('"removed"', '"more":[],"removed"')],
    ['a fraction in an unused field', () => replaced('"removed"', '"more":1.5,"removed"')],
    ['a negative number in one', () => replaced('"removed"', '"more":-1,"removed"')],
    ['a byte after the end', () => `${text}x`],
    ['a second answer', () => text + text],
    ['no end', () => text.slice(0, -1)],
    ['an id with a leading zero', () => replaced('"id":7', '"id":07')],
    ['a string as id', () => replaced('"id":7', '"id":"7"')],
    ['no id', () => replaced('"id":7,', '')],
    ['an error together with the result', () => replaced('"id":7', '"id":7,"error":null')],
    ['no entries', () => JSON.stringify({ jsonrpc: '2.0', id: 7, result: [] })],
    ['a receipt in a receipt', () => replaced('"removed":false', '"logs":[]')],
    ['nothing', () => ''],
  ] as [string, () => string][])('leaves a response with %s to the parser', (_, spoiled) => {
    expect(scanAnswer(Buffer.from(spoiled()))).toBeNull()
  })

  it('is not misled by earlier content', () => {
    const again = replaced('3333', '33zz')
    expect(scanAnswer(Buffer.from(text))).not.toBeNull()
    expect(scanAnswer(Buffer.from(again))).toBeNull()
    // A hash that is known, and a byte too many before its quote.
    expect(scanAnswer(Buffer.from(replaced('3333"', '33333"')))).toBeNull()
  })
})

describe('a real node’s response', () => {
  let chain: LocalChain
  beforeAll(async () => {
    chain = await startLocalChain()
    await mineTransactions(chain, EVERY_KIND)
  })
  afterAll(() => chain.close())

  it.each([
    ['eth_getBlockReceipts', ['latest']],
    ['eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }]],
  ] as [string, unknown[]][])('%s is accepted', async (method, params) => {
    const response = await fetch(chain.anvil.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 9, method, params }),
    })
    const body = Buffer.from(await response.arrayBuffer())
    const scanned = scanAnswer(body)
    expect(scan(body)).toEqual(strictly(body))
    expect(scanned?.id).toBe(9)
    const logs = scanned?.result.flatMap(entry => (entry instanceof LogEntry ? [entry] : entry.logs))
    expect(logs).toHaveLength(9)
  })
})
