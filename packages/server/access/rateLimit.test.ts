import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { FailureThrottle } from './failureThrottle.ts'
import { RateLimit } from './rateLimit.ts'

const clockAt = (time: { ms: number }) => ({ nowMs: () => time.ms, monotonicMs: () => time.ms })

test('R-limit-1: in any window a consumer gets at most quota plus burst, and never waits for units it has', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ afterMs: fc.nat(5000), cost: fc.integer({ min: 1, max: 12 }) }), {
        maxLength: 300,
      }),
      asks => {
        const time = { ms: 1000 }
        const limit = new RateLimit(clockAt(time), { units: 600, windowMs: 60_000, burst: 60 })
        const spent: { atMs: number; cost: number }[] = []
        for (const { afterMs, cost } of asks) {
          time.ms += afterMs
          if (limit.take('c', cost).allowed) spent.push({ atMs: time.ms, cost })
          const inWindow = spent
            .filter(each => each.atMs > time.ms - 60_000)
            .reduce((sum, each) => sum + each.cost, 0)
          expect(inWindow).toBeLessThanOrEqual(660)
        }
      },
    ),
    { numRuns: 200 },
  )
})

test('R-limit-1: the same holds for requests charged late and out of order', () => {
  const time = fc.nat(120_000)
  fc.assert(
    fc.property(fc.array(time, { minLength: 600, maxLength: 2000 }), cameAtMs => {
      const limit = new RateLimit(clockAt({ ms: 120_000 }), { units: 600, windowMs: 60_000, burst: 60 })
      const spentAtMs = cameAtMs.filter(atMs => limit.take('c', 1, limit.quota, atMs).allowed)
      for (const endMs of spentAtMs) {
        const inWindow = spentAtMs.filter(atMs => atMs > endMs - 60_000 && atMs <= endMs)
        expect(inWindow.length).toBeLessThanOrEqual(660)
      }
    }),
    { numRuns: 20 },
  )
})

test('a refusal gives the exact time to wait', () => {
  const time = { ms: 0 }
  const limit = new RateLimit(clockAt(time))
  for (let n = 0; n < 60; n++) expect(limit.take('c').allowed).toBe(true)
  const { allowed, waitMs } = limit.take('c')
  expect([allowed, waitMs]).toEqual([false, 100])
  time.ms += waitMs - 1
  expect(limit.take('c').allowed).toBe(false)
  time.ms += 1
  expect(limit.take('c').allowed).toBe(true)
  expect(limit.take('another').allowed).toBe(true)
})

test('R-limit-1: a consumer with another quota owes the units it has spent, not the time they would have taken', () => {
  const time = { ms: 0 }
  const limit = new RateLimit(clockAt(time))
  for (let n = 0; n < 50; n++) expect(limit.take('c').allowed).toBe(true)
  const wide = { units: 6000, windowMs: 60_000, burst: 60 }
  expect(limit.take('c', 1, wide)).toMatchObject({ allowed: true, remaining: 9, waitMs: 510 })
  const narrow = { units: 60, windowMs: 60_000, burst: 60 }
  expect(limit.take('c', 1, narrow)).toMatchObject({ allowed: true, remaining: 8, waitMs: 52_000 })
  expect(limit.take('c', 9, narrow)).toMatchObject({ allowed: false, remaining: 8, waitMs: 1000 })
})

test('R-limit-3: ten failed credentials a minute per address, an IPv6 subscriber counting once', () => {
  const time = { ms: 0 }
  const failures = new FailureThrottle(clockAt(time))
  for (let n = 0; n < 10; n++) expect(failures.fail(`2001:db8:1:2::${n}`)).toBeNull()
  expect(failures.fail('2001:db8:1:2:ffff::1')).toBe(6000)
  expect(failures.fail('2001:db8:1:3::1')).toBeNull()
  expect(failures.fail('192.0.2.1')).toBeNull()
})

test('R-limit-1: a step of the wall clock, either way, admits no more and locks out nobody', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ afterMs: fc.nat(2000), stepMs: fc.integer({ min: -1e9, max: 1e9 }) }), {
        minLength: 100,
        maxLength: 300,
      }),
      asks => {
        const time = { wallMs: 1e12, ms: 0 }
        const clock = { nowMs: () => time.wallMs, monotonicMs: () => time.ms }
        const limit = new RateLimit(clock, { units: 60, windowMs: 60_000, burst: 5 })
        const passed: number[] = []
        for (const { afterMs, stepMs } of asks) {
          time.ms += afterMs
          time.wallMs += afterMs + stepMs
          const before = passed.filter(atMs => atMs > time.ms - 60_000).length
          const { allowed } = limit.take('c')
          if (allowed) passed.push(time.ms)
          expect(before + (allowed ? 1 : 0)).toBeLessThanOrEqual(65)
          // Who has waited for the whole burst is never refused.
          if ((passed.at(-2) ?? -1e9) < time.ms - 5000) expect(allowed).toBe(true)
        }
      },
    ),
    { numRuns: 100 },
  )
})

test('a consumer with its own quota gets that one', () => {
  const limit = new RateLimit(clockAt({ ms: 0 }))
  const own = { units: 10, windowMs: 1000, burst: 2 }
  expect(limit.take('c', 1, own)).toEqual({ allowed: true, remaining: 1, waitMs: 100 })
  expect(limit.take('c', 1, own)).toEqual({ allowed: true, remaining: 0, waitMs: 200 })
  expect(limit.take('c', 1, own)).toEqual({ allowed: false, remaining: 0, waitMs: 100 })
})

test('units spent and refunded at once leave the balance unchanged, and never exceed the burst', () => {
  fc.assert(
    fc.property(fc.nat(60), fc.nat(60), fc.nat(5000), (spent, returned, waitMs) => {
      const time = { ms: 1000 }
      const limit = new RateLimit(clockAt(time))
      limit.take('c', spent)
      time.ms += waitMs
      const before = limit.take('c', 0)
      if (limit.take('c', returned).allowed) limit.giveBack('c', returned)
      expect(limit.take('c', 0)).toEqual(before)
      limit.giveBack('c', 60)
      expect(limit.take('c', 0).remaining).toBe(60)
    }),
  )
})
