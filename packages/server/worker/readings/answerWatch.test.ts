import { expect, test } from 'vitest'
import type { LogEntry } from '../../feed/answers/entry.ts'
import { ANSWER_UPDATED } from '../../market/abi.ts'
import type { AnswerSources } from '../../market/market.ts'
import type { Address, Hex } from '../../ops/hex.ts'
import { AnswerWatch } from './answerWatch.ts'

const [AGGREGATOR, NEXT, SEQUENCER, OTHER, USDC] = ['aa', 'ab', 'cc', 'bb', '11'].map(
  byte => `0x${byte.repeat(20)}` as const,
) as [Hex, Hex, Hex, Hex, Hex]
const MINUTE = 60_000
const WORD = `0x${'0'.repeat(63)}7` as const

const block = (address: Hex | null = null, proof: 'receipts' | 'none' = 'receipts') => ({
  proof,
  logs:
    address === null
      ? []
      : [
          {
            address,
            topic: ANSWER_UPDATED,
            topics: [ANSWER_UPDATED, WORD, WORD],
            text: new DataView(new TextEncoder().encode(WORD.slice(2)).buffer),
            dataAt: 0,
            dataEnd: 64,
          } as unknown as LogEntry,
        ],
})
const sourcesOf = (aggregator: Address, isComplete = true): AnswerSources => ({
  aggregators: new Map([[aggregator, [USDC]]]),
  others: new Set([SEQUENCER]),
  isComplete,
})

/** One that read a minute ago that all feeds have an aggregator. */
function watching({ isComplete = true } = {}): AnswerWatch {
  const watch = new AnswerWatch()
  watch.setSources(sourcesOf(AGGREGATOR, isComplete), 0)
  watch.begin(0)
  return watch
}
const take = (watch: AnswerWatch, given: ReturnType<typeof block>) =>
  watch.take(given, () => 8).map(({ token, answer }) => [token, answer.value])

test('answers are due at the start, and so are the contracts that log them', () => {
  const watch = new AnswerWatch()
  expect([watch.isDue(0), watch.areSourcesDue(0)]).toEqual([true, true])
})

test('R-reading-3: proven blocks leave ten minutes between two readings, and their answers need none', () => {
  const watch = watching()
  expect(take(watch, block(AGGREGATOR))).toEqual([[USDC, 7n]])
  expect(take(watch, block(OTHER))).toEqual([])
  watch.note([block(AGGREGATOR), block(OTHER)], false)
  expect([9 * MINUTE, 10 * MINUTE].map(atMs => watch.isDue(atMs))).toEqual([false, true])
  expect([9 * MINUTE, 10 * MINUTE].map(atMs => watch.areSourcesDue(atMs))).toEqual([false, true])
})

test('R-reading-3: an answer in a block without proof, a sequencer or a reorganisation makes a reading due at once', () => {
  for (const [logged, isReorg] of [
    [block(AGGREGATOR, 'none'), false],
    [block(SEQUENCER), false],
    [block(), true],
  ] as const) {
    const watch = watching()
    expect(take(watch, logged)).toEqual([])
    watch.note([logged], isReorg)
    expect(watch.isDue(1000)).toBe(true)
    watch.begin(1000)
    expect(watch.isDue(2000)).toBe(false)
  }
})

test('without an aggregator, or without proven blocks, the interval is thirty seconds', () => {
  const untold = watching({ isComplete: false })
  const unproven = watching()
  unproven.note([block(null, 'none')], false)
  for (const watch of [untold, unproven])
    expect([29_000, 30_000].map(atMs => watch.isDue(atMs))).toEqual([false, true])
})

test('R-reading-3: logs of old and new aggregator while the proxy changes are read once more', () => {
  for (const logger of [AGGREGATOR, NEXT]) {
    const watch = watching()
    watch.begin(10 * MINUTE)
    take(watch, block(logger))
    watch.setSources(sourcesOf(NEXT), 10 * MINUTE)
    expect(watch.isDue(10 * MINUTE + 1)).toBe(true)
    watch.begin(10 * MINUTE + 1)
    expect(take(watch, block(AGGREGATOR))).toEqual([])
    expect(take(watch, block(NEXT))).toEqual([[USDC, 7n]])
    watch.setSources(sourcesOf(NEXT), 10 * MINUTE + 2)
    expect(watch.isDue(10 * MINUTE + 3)).toBe(false)
  }
})

test('a failed reading is due again with the next block', () => {
  const watch = watching()
  watch.failed()
  expect(watch.isDue(1)).toBe(true)
})
