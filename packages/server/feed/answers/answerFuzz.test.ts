/** Whatever bytes a node answers with: they are read, or the node is at fault, and neither takes long. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { Secret } from '../../ops/secret.ts'
import { jsonText, runs, SECRET, spoiled, survive, text } from '../../ops/testing/hostile.ts'
import { parseAddress } from '../transport/address.ts'
import { decodeAnswer } from './answer.ts'
import { parseAnswer } from './answerReader.ts'
import { DEFAULT_LIMITS, resultOf } from '../transport/connection.ts'
import { toLogEntry, toReceiptEntry } from './entry.ts'
import { isFeedError } from '../feedError.ts'
import { proofRulesOf } from '../proof/proofRules.ts'
import { decodePushed } from '../proof/header.ts'
import { RPC_MEMBERS } from '../testing/rpcMembers.ts'

const NAME = 'own'
const options = {
  name: NAME,
  address: parseAddress(NAME, new Secret(`https://node.example/v3/${SECRET}`)),
  limits: DEFAULT_LIMITS,
}
const isOwn = (failure: unknown) => isFeedError(failure)

const KEYS = [
  ...RPC_MEMBERS,
  'logs',
  'topics',
  'data',
  'address',
  'blockHash',
  'blockNumber',
  'transactionHash',
  'transactionIndex',
  'logIndex',
  'removed',
  'number',
  'hash',
  'parentHash',
  'timestamp',
  'status',
  'type',
]
const VALUES = [
  '"0x"',
  '"0x0"',
  '"0x1"',
  '"0xZZ"',
  '"0X1"',
  `"0x${'f'.repeat(14)}"`,
  `"0x${'ab'.repeat(32)}"`,
  `"0x${'12'.repeat(20)}"`,
  `"0x${'00'.repeat(256)}"`,
  '[]',
  '-32601',
  `"see https://node.example/v3/${SECRET} or ${SECRET}"`,
]

/** As a connection reads it, down to the fields of every kind of answer. */
function read(bytes: Buffer): unknown {
  const result = resultOf(parseAnswer(bytes, NAME), options, 'eth_any')
  for (const item of Array.isArray(result) ? (result as unknown[]) : [result]) {
    survive(() => decodePushed({ name: NAME, proofRules: proofRulesOf({}) }, item), isOwn)
    survive(() => decodeAnswer(NAME, 'a log', () => toLogEntry(item)), isOwn)
    survive(() => decodeAnswer(NAME, 'a receipt', () => toReceiptEntry(item)), isOwn)
  }
  return result
}

it('a response of any JSON is read or refused', () => {
  let understood = 0
  const envelope = fc
    .tuple(fc.constantFrom('result', 'result', 'error'), jsonText(KEYS, VALUES))
    .map(([key, value]) => `{"jsonrpc":"2.0","id":1,"${key}":${value}}`)
  fc.assert(
    fc.property(fc.oneof(envelope, spoiled(envelope), spoiled(jsonText(KEYS, VALUES))), body => {
      if (survive(() => read(Buffer.from(body)), isOwn) !== null) understood++
    }),
    runs(600),
  )
  expect(understood).toBeGreaterThan(0)
})

it('a response of any bytes is read or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), bytes => {
      survive(() => read(Buffer.from(bytes)), isOwn)
    }),
    runs(500),
  )
})

it.each([
  ['a list three hundred thousand deep', `{"id":1,"result":${'['.repeat(3e5)}${']'.repeat(3e5)}}`],
  ['objects three hundred thousand deep', `{"id":1,"result":${'{"a":'.repeat(3e5)}1${'}'.repeat(3e5)}}`],
  ['an error of a million letters', JSON.stringify({ id: 1, error: { code: 1, message: 'a'.repeat(1e6) } })],
  [
    'an error of a million schemes',
    JSON.stringify({ id: 1, error: { code: 1, message: 'a://'.repeat(3e5) } }),
  ],
  ['a number of a million digits', `{"id":1,"result":${'9'.repeat(1e6)}}`],
  ['hex of a million digits', JSON.stringify({ id: 1, result: { number: `0x${'f'.repeat(1e6)}` } })],
  ['a hundred thousand empty logs', `{"id":1,"result":[${'{},'.repeat(1e5)}{}]}`],
])('%s is fast', (_, body) => {
  const bytes = Buffer.from(body)
  survive(() => resultOf(parseAnswer(bytes, NAME), options, 'eth_any'), isOwn)
})

it('a node’s own mention of its address stays out of the error', () => {
  fc.assert(
    fc.property(text(), text(), (before, after) => {
      const message = `${before}${SECRET}${after}`
      survive(() => resultOf({ id: 1, error: { code: 1, message } }, options, 'eth_any'), isOwn)
    }),
    runs(300),
  )
})
