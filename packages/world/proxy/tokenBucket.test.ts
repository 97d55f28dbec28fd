import { expect, it } from 'vitest'
import { TokenBucket } from './tokenBucket.ts'

it('gives as many at once as its burst, then as many as refill', () => {
  let nowMs = 0
  const bucket = new TokenBucket({ perSecond: 10, burst: 20 }, () => nowMs)
  const taken = (count: number): number => {
    let passed = 0
    for (let n = 0; n < count; n++) if (bucket.take(1)) passed++
    return passed
  }
  expect(taken(30)).toBe(20)
  nowMs += 500
  expect(taken(30)).toBe(5)
  nowMs += 3_600_000
  expect(taken(30)).toBe(20)
})

it('takes a request whole or not at all, and one larger than the bucket when that is full', () => {
  let nowMs = 0
  const bucket = new TokenBucket({ perSecond: 10, burst: 20 }, () => nowMs)
  expect([bucket.take(15), bucket.take(6), bucket.take(5)]).toEqual([true, false, true])
  nowMs += 1999
  expect(bucket.take(30)).toBe(false)
  nowMs += 1
  expect(bucket.take(30)).toBe(true)
  // The ten too many are paid back first.
  nowMs += 1099
  expect(bucket.take(1)).toBe(false)
  nowMs += 1
  expect(bucket.take(1)).toBe(true)
})
