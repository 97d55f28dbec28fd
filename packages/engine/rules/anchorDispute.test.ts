import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Fraction } from '../exact/fraction.ts'
import { DEFAULT_POLICY } from '../policy/policy.ts'
import { cases, natural } from '../testing/cases.ts'
import { count, type Ms, ms } from '../units.ts'
import { type AnchorFeed, anchorDispute } from './anchorDispute.ts'
import { FOREVER } from './timed.ts'

const T = ms(1_700_000_000_000)
const terms = { heartbeatMs: ms(3_600_000), graceMs: ms(300_000) }
const LATE = terms.heartbeatMs + terms.graceMs

/** 2,000 USD with eight decimals, made at T. */
const answer = { value: 200_000_000_000n, decimals: count(8), updatedAtMs: T, complete: true }
const feed: AnchorFeed = { answer, terms }

/** The price, off by so many ten-thousandths. */
const off = (bps: bigint): Fraction => ({ num: 2_000n * (10_000n + bps), den: 10_000n })
const disputed = (cap: number) => ({ code: 'ANCHOR_DISPUTED', cap })
const dispute = (price: Fraction, against: AnchorFeed = feed, ageMs = 0) =>
  anchorDispute(price, against, DEFAULT_POLICY, ms(T + ageMs))

it('R-dispute-1: more than 200 bps from its feed caps a routing asset at 6, more than 500 at 3, ANCHOR_DISPUTED', () => {
  const capAt = (bps: bigint) => dispute(off(bps)).value?.cap ?? null
  expect([0n, 200n].map(capAt)).toEqual([null, null])
  expect([201n, 500n].map(capAt)).toEqual([disputed(6), disputed(6)])
  expect([501n, 3_000n].map(capAt)).toEqual([disputed(3), disputed(3)])
})

it('R-dispute-1: below the feed counts as above, and the least excess past a bound is past it', () => {
  fc.assert(
    fc.property(natural(200), fc.constantFrom(200n, 500n), (num, bound) => {
      const usd = { num: 10n * num, den: 10n ** 8n }
      const against = { ...feed, answer: { ...answer, value: 10n * num } }
      const at = { num: usd.num * (10_000n + bound), den: usd.den * 10_000n }
      const past = { num: at.num * 10n ** 40n + 1n, den: at.den * 10n ** 40n }
      const capOf = (price: Fraction) => dispute(price, against).value?.cap?.cap ?? 10
      const mirrored = ({ num: a, den: b }: Fraction) => ({
        num: usd.num * usd.num * b,
        den: usd.den * usd.den * a,
      })
      const [inside, outside] = bound === 200n ? [10, 6] : [6, 3]
      expect([capOf(at), capOf(mirrored(at))]).toEqual([inside, inside])
      expect([capOf(past), capOf(mirrored(past))]).toEqual([outside, outside])
    }),
    { numRuns: cases(200) },
  )
})

it('R-dispute-2: a feed older than heartbeat and grace has no effect, and the rule names the time', () => {
  expect(dispute(off(900n), feed, LATE)).toMatchObject({ value: { cap: { cap: 3 } }, untilMs: T + LATE + 1 })
  expect(dispute(off(900n), feed, LATE + 1)).toEqual({ value: null, untilMs: FOREVER })
})

it('R-dispute-2: nor has an answer that is missing, incomplete or not positive', () => {
  const silent = [null, { ...answer, complete: false }, { ...answer, value: 0n }, { ...answer, value: -1n }]
  for (const each of silent)
    expect(dispute(off(900n), { ...feed, answer: each })).toEqual({ value: null, untilMs: FOREVER })
})

it('R-dispute-2: only a fresh feed within 200 bps confirms a price', () => {
  expect([0n, 200n, 201n].map(bps => dispute(off(bps)).value?.isNear)).toEqual([true, true, false])
  expect(dispute(off(0n), feed, LATE + 1).value).toBe(null)
})

it('R-dispute-2: the result is the same until the time the rule names', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1000, max: 2 * LATE }),
      fc.bigInt(0n, 1000n),
      fc.nat(LATE),
      (age, bps, step) => {
        const now = dispute(off(bps), feed, age)
        const laterMs = Math.min(T + age + step, now.untilMs - 1) as Ms
        expect(anchorDispute(off(bps), feed, DEFAULT_POLICY, laterMs).value).toEqual(now.value)
      },
    ),
    { numRuns: cases(200) },
  )
})
