import fc from 'fast-check'
import { expect, it } from 'vitest'
import { policyText, restText } from '../../access/quotaText.ts'
import type { Quota, Verdict } from '../../access/rateLimit.ts'
import { QuotaHeaders } from './quotaHeaders.ts'

const quotas = [
  { units: 600, windowMs: 60_000, burst: 60 },
  { units: 5, windowMs: 1000, burst: 1 },
]
const few = fc.integer({ min: -1, max: 3 })
const verdict = fc.record({
  allowed: fc.boolean(),
  remaining: few,
  waitMs: few.map(seconds => Math.max(0, seconds * 1000 - 0.5)),
})

it('reports the current values whatever it reported before', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...quotas), verdict)), asked => {
      const lines = new QuotaHeaders()
      for (const [quota, said] of asked) {
        expect(lines.of(quota, said)).toEqual([
          'ratelimit-policy',
          policyText(quota),
          'ratelimit',
          restText(said),
        ])
      }
    }),
  )
})

it('rounds a wait up to whole seconds, and reports a new remainder at once', () => {
  const lines = new QuotaHeaders()
  const restOf = (verdict: Verdict) => lines.of(quotas[0] as Quota, verdict)[3]
  expect(restOf({ allowed: true, remaining: 59, waitMs: 100 })).toBe('"default";r=59;t=1')
  expect(restOf({ allowed: true, remaining: 59, waitMs: 700 })).toBe('"default";r=59;t=1')
  expect(restOf({ allowed: true, remaining: 58, waitMs: 700 })).toBe('"default";r=58;t=1')
  expect(restOf({ allowed: true, remaining: 58, waitMs: 1100 })).toBe('"default";r=58;t=2')
})
