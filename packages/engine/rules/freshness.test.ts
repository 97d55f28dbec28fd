import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { ms } from '../units.ts'
import { freshness } from './freshness.ts'
import { FOREVER } from './timed.ts'

const T = ms(1_700_000_000_000)
const aged = (ageMs: number, ttlMs: number) => freshness(T, ms(ttlMs), ms(T + ageMs))

it('R-fresh-4: up to 0.1, 0.2, 0.4, 0.6, 0.8 of the TTL, below 1, expired', () => {
  const ages = [0, 100, 101, 200, 201, 400, 401, 600, 601, 800, 801, 999, 1_000, 5_000]
  expect(ages.map(age => aged(age, 1_000).value.score)).toEqual([10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 0, 0])
})

it('R-fresh-4: expired gives 0 and remains expired', () => {
  expect(aged(999, 1_000).value.score).toBe(5)
  expect(aged(1_000, 1_000)).toEqual({
    value: { score: 0, ageMs: 1_000, ttlMs: 1_000 },
    untilMs: FOREVER,
  })
})

it('R-timer-1: it is valid until the first millisecond of the next lower band', () => {
  const ttl = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 3_600_000 }))
  fc.assert(
    fc.property(ttl, fc.double({ min: 0, max: 1.1, noNaN: true }), (ttlMs, share) => {
      const age = Math.floor(ttlMs * share)
      const { value, untilMs } = aged(age, ttlMs)
      if (value.score === 0) {
        expect(untilMs).toBe(FOREVER)
        return
      }
      expect(untilMs).toBeGreaterThan(T + age)
      expect(freshness(T, ms(ttlMs), ms(untilMs - 1)).value.score).toBe(value.score)
      expect(freshness(T, ms(ttlMs), untilMs).value.score).toBeLessThan(value.score)
    }),
    { numRuns: cases(2500) },
  )
})

it('R-fresh-4: a block ahead of our clock has age 0', () => {
  expect(freshness(ms(T + 5_000), ms(1_000), T).value).toEqual({ score: 10, ageMs: 0, ttlMs: 1_000 })
})
