import { expect, test } from 'vitest'
import type { LogEntry } from '../feed/answers/entry.ts'
import { logOf } from '../feed/testing/logOf.ts'
import type { Address, Hex } from '../ops/hex.ts'
import { ANSWER_UPDATED } from './abi.ts'
import { TOPIC } from './v2/v2.ts'
import { answersIn } from './answerLogs.ts'
import { encodeInt } from './abiWords.ts'

const [AGGREGATOR, SHARED, SEQUENCER, STRANGER] = ['aa', 'bb', 'cc', 'dd'].map(
  byte => `0x${byte.repeat(20)}` as const,
) as [Hex, Hex, Hex, Hex]
const [USDC, WETH, STETH] = ['11', '22', '33'].map(byte => `0x${byte.repeat(20)}` as const) as [Hex, Hex, Hex]
const sources = {
  aggregators: new Map<Address, Address[]>([
    [AGGREGATOR, [USDC]],
    [SHARED, [WETH, STETH]],
  ]),
  others: new Set<Address>([SEQUENCER]),
  isComplete: true,
}
const word = (value: bigint): Hex => `0x${encodeInt(value)}`

const updated = (address: Hex, value: bigint, atS = 1_700_000_000n): LogEntry =>
  logOf(address, [ANSWER_UPDATED, word(value), word(7n)], word(atS))
const read = (logs: readonly LogEntry[], decimals: number | null = 8) =>
  answersIn(logs, sources, () => decimals)

test('R-reading-3: an answer is read from the log of its aggregator, the last one in the block, for every token it answers', () => {
  const logs = [updated(AGGREGATOR, 1n), updated(SHARED, 5n), updated(AGGREGATOR, 99_990_000n)]
  const answer = { decimals: 8, updatedAtMs: 1_700_000_000_000, complete: true }
  expect(read(logs)).toEqual({
    answers: [
      { token: USDC, answer: { value: 99_990_000n, ...answer } },
      { token: WETH, answer: { value: 5n, ...answer } },
      { token: STETH, answer: { value: 5n, ...answer } },
    ],
    isUnclear: false,
  })
})

test('R-reading-3: a value that is not above 0, or has no time, is an incomplete answer', () => {
  const answers = [updated(AGGREGATOR, 0n), updated(AGGREGATOR, -3n), updated(AGGREGATOR, 5n, 0n)].map(
    log => read([log]).answers[0]?.answer,
  )
  expect(answers).toMatchObject([
    { value: 0n, complete: false },
    { value: 0n, complete: false },
    { value: 5n, complete: false },
  ])
})

test('R-reading-3: logs of other contracts, and other logs of an aggregator, are ignored', () => {
  const other = logOf(AGGREGATOR, [TOPIC.sync, word(1n), word(2n)], word(3n))
  expect(read([updated(STRANGER, 1n), other])).toEqual({ answers: [], isUnclear: false })
})

test('R-reading-3: a sequencer, a log of another form or unknown decimals require a reading', () => {
  const unindexed = logOf(AGGREGATOR, [ANSWER_UPDATED], `0x${[1n, 2n, 3n].map(encodeInt).join('')}`)
  for (const unclear of [
    read([updated(SEQUENCER, 0n)]),
    read([unindexed]),
    read([updated(AGGREGATOR, 1n)], null),
  ])
    expect(unclear).toEqual({ answers: [], isUnclear: true })
})
