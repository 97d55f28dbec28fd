/** F4: a range halves at every refusal, down to one block, and grows back slowly; where logs are many it stays short. */
import { expect, test } from 'vitest'
import { BackfillRange } from './backfillRange.ts'

test('F4: it doubles until it is refused, and then grows by a quarter after eight answers', () => {
  const range = new BackfillRange(64)
  range.answered(64, 0)
  range.answered(128, 0)
  expect(range.size).toBe(256)
  range.refused(256)
  expect(range.size).toBe(128)
  for (let n = 0; n < 7; n++) range.answered(128, 0)
  expect(range.size).toBe(128)
  range.answered(128, 0)
  expect(range.size).toBe(160)
})

test('F4: it never falls below one block, and a late refusal of a longer range does not lengthen it', () => {
  const range = new BackfillRange(4)
  range.refused(1)
  expect(range.size).toBe(1)
  range.refused(1000)
  expect(range.size).toBe(1)
  for (let n = 0; n < 8; n++) range.answered(1, 0)
  expect(range.size).toBe(2)
})

test('many logs shorten it without a refusal, and it never outgrows its limit', () => {
  const range = new BackfillRange(1000)
  range.answered(1000, 100_000)
  expect(range.size).toBe(20)
  const free = new BackfillRange(64)
  for (let n = 0; n < 50; n++) free.answered(free.size, 0)
  expect(free.size).toBe(16_384)
})

test('it is settled once it met a limit: of the node, of a response, or its own', () => {
  const [refused, full, free] = [new BackfillRange(64), new BackfillRange(64), new BackfillRange(64)]
  for (const range of [refused, full, free]) range.answered(64, 1)
  expect([refused, full, free].map(range => range.isSettled)).toEqual([false, false, false])
  refused.refused(128)
  full.answered(128, 4000)
  while (free.size < 16_384) free.answered(free.size, 0)
  expect([refused, full, free].map(range => range.isSettled)).toEqual([true, true, false])
  free.answered(free.size, 0)
  expect(free.isSettled).toBe(true)
})
