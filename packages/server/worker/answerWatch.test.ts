import { expect, test } from 'vitest'
import type { LogEntry } from '../feed/entry.ts'
import { TOPIC } from '../market/abi.ts'
import type { Hex } from '../ops/config.ts'
import { AnswerWatch } from './answerWatch.ts'

const AGGREGATOR: Hex = `0x${'aa'.repeat(20)}`
const OTHER: Hex = `0x${'bb'.repeat(20)}`
const MINUTE = 60_000

const block = (address: Hex | null = null, proof: 'receipts' | 'none' = 'receipts') => ({
  proof,
  logs: address === null ? [] : [{ address, topics: [TOPIC.answerUpdated] } as unknown as LogEntry],
})

/** One that read a minute ago that all feeds have an aggregator. */
function watching({ isComplete = true } = {}): AnswerWatch {
  const watch = new AnswerWatch()
  watch.setSources({ contracts: new Set([AGGREGATOR]), isComplete }, 0)
  watch.begin(0)
  return watch
}

test('answers are due at the start, and so are the contracts that log them', () => {
  const watch = new AnswerWatch()
  expect([watch.isDue(0), watch.areSourcesDue(0)]).toEqual([true, true])
})

test('proven blocks without a new answer leave ten minutes between two readings', () => {
  const watch = watching()
  watch.note([block(), block(OTHER)], false)
  expect([9 * MINUTE, 10 * MINUTE].map(atMs => watch.isDue(atMs))).toEqual([false, true])
  expect([9 * MINUTE, 10 * MINUTE].map(atMs => watch.areSourcesDue(atMs))).toEqual([false, true])
})

test('a new answer of an aggregator, or a reorganisation, makes them due at once', () => {
  for (const [logged, isReorg] of [
    [AGGREGATOR, false],
    [null, true],
  ] as const) {
    const watch = watching()
    watch.note([block(), block(logged)], isReorg)
    expect(watch.isDue(1000)).toBe(true)
    watch.begin(1000)
    expect(watch.isDue(2000)).toBe(false)
  }
})

test('where a feed has no aggregator, or blocks are not proven, thirty seconds decide', () => {
  const untold = watching({ isComplete: false })
  const unproven = watching()
  unproven.note([block(null, 'none')], false)
  for (const watch of [untold, unproven])
    expect([29_000, 30_000].map(atMs => watch.isDue(atMs))).toEqual([false, true])
})

test('a reading that failed is due again with the next block', () => {
  const watch = watching()
  watch.failed()
  expect(watch.isDue(1)).toBe(true)
})
