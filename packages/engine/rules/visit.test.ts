import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as fraction from '../exact/fraction.ts'
import type { Fraction } from '../exact/fraction.ts'
import { append, changesOf, restore } from '../memory/temporalTape.ts'
import { book, reopen } from '../memory/visitTape.ts'
import { cases } from '../testing/cases.ts'
import { isNearer } from '../testing/plainVisits.ts'
import { type Ms, ms } from '../units.ts'
import * as depthAverage from './depthAverage.ts'
import type { Change } from './temporalWindow.ts'
import { bookDepth, bookRatio, bookedSince, isMedianOld, nearer } from './visit.ts'

const T = ms(1_700_000_000_000)
const placeOf = (ratio: Fraction) => ({ ratio, approx: fraction.approx(ratio) })
const isSame = (a: Fraction, b: Fraction) => fraction.compareExactly(a, b) === 0

describe('the booked span', () => {
  it.each([
    [12_048, 60_000, 13_000],
    [12_000, 60_000, 12_000],
    [12_000, 3_000, 3_000],
    [250, 60_000, 1_000],
    [1_000, 60_000, 1_000],
    [1_001, 60_000, 2_000],
    [12_000, 0, 0],
  ])(
    'R-visit-2: with blocks every %i ms and the last moment %i ms ago it is %i ms',
    (blockTime, ago, span) => {
      expect(T - bookedSince(ms(T - ago), T, ms(blockTime))).toBe(span)
    },
  )

  it('R-visit-4: the median of the last moment is too old after 300,000 ms, and not at them', () => {
    expect([300_000, 300_001].map(ago => isMedianOld(ms(T - ago), T))).toEqual([false, true])
  })
})

describe('nearer', () => {
  /** Pairs as far from the median on either side, equal values in other words, and numbers past a double. */
  const side = fc.bigInt(1n, 1n << 1_100n)
  const small = fc.bigInt(1n, 12n)
  const ratio = fc
    .tuple(fc.oneof(small, side), fc.oneof(small, side))
    .map(([num, den]): Fraction => ({ num, den }))

  it('R-visit-4: is the ratio fewer dev_bps from the median; of two equally far, the lower', () => {
    fc.assert(
      fc.property(ratio, ratio, ratio, small, fc.boolean(), (median, one, drawn, shared, isMirrored) => {
        // As far as `one`, on the other side.
        const mirrored = {
          num: median.num * median.num * one.den * shared,
          den: median.den * median.den * one.num * shared,
        }
        const other = isMirrored ? mirrored : drawn
        const expected = isNearer(median, other, one) ? other : one
        const found = nearer(placeOf(median), placeOf(one), placeOf(other))
        expect(isSame(found.ratio, expected)).toBe(true)
        const turned = nearer(placeOf(median), placeOf(other), placeOf(one))
        expect(isSame(turned.ratio, expected)).toBe(true)
      }),
      { numRuns: cases(1500) },
    )
  })
})

describe('bookDepth', () => {
  const amount = fc.bigInt(0n, 10n ** 24n)

  it('R-visit-3: is the average with the least depth over the span, with one rounding when that is the depth held', () => {
    fc.assert(
      fc.property(
        amount,
        amount,
        amount,
        amount,
        fc.nat(10 ** 7),
        fc.nat(13_000),
        (e, l, less, then, ago, span) => {
          const entered = { e: e << 32n, l, t0: ms(T - span - ago) }
          const booked = (leastY: bigint) =>
            bookDepth(entered, { sinceMs: ms(T - span), timeMs: T, leastY, nearest: null }, then)
          expect(booked(l)).toEqual(depthAverage.change(entered, then, T))
          const leastY = less < l ? less : l - 1n
          if (leastY < 0n) return
          const dip = depthAverage.change(entered, leastY, ms(T - span))
          expect(booked(leastY)).toEqual(depthAverage.change(dip, then, T))
          // Two decays instead of one are cut at up to 52 bits, each time by less than a part in 2^63 of E − H.
          const cuts = ((entered.e + (l << 32n)) >> 57n) + 3n
          expect(booked(leastY).e).toBeLessThanOrEqual(booked(l).e + cuts)
        },
      ),
      { numRuns: cases(600) },
    )
  })
})

describe('bookRatio', () => {
  const whole = fc.bigInt(1n, 4n).map((num): Fraction => ({ num, den: 2n }))
  const history = fc
    .array(fc.tuple(fc.constantFrom(0, 1_000, 12_000, 150_000, 299_000), whole), {
      minLength: 1,
      maxLength: 9,
    })
    .map(steps => {
      let at = T
      return steps.reduce((built, [gap, value]) => {
        at = ms(at + gap)
        return append(built, at, value)
      }, restore([]))
    })
  const lastOf = (changes: readonly Change[]): Ms => (changes.at(-1) as Change).fromMs
  const inWindow = (changes: readonly Change[], toMs: Ms) =>
    changes.filter((_, at) => (changes[at + 1]?.fromMs ?? toMs) > toMs - 300_000)

  it('R-visit-4: the tape books what the plain form does, and reverts to what it was', () => {
    fc.assert(
      fc.property(
        history,
        fc.constantFrom(0, 500, 1_000, 12_000, 200_000),
        fc.nat(12_000),
        whole,
        whole,
        whole,
        (entered, quiet, span, nearest, final, again) => {
          const before = changesOf(entered)
          const sinceMs = ms(lastOf(before) + quiet)
          const booked = { sinceMs, timeMs: ms(sinceMs + span), leastY: 0n, nearest: placeOf(nearest) }
          const plain = bookRatio(before, booked, final)
          const onTape = book(entered, booked, final)
          expect(inWindow(changesOf(onTape), booked.timeMs)).toEqual(inWindow(plain, booked.timeMs))
          // Another block of the moment: the history as it was entered, and the span booked again.
          const reopened = reopen(onTape, entered.open)
          expect(inWindow(changesOf(reopened), booked.timeMs)).toEqual(inWindow(before, booked.timeMs))
          const other = { ...booked, nearest: placeOf(again) }
          expect(inWindow(changesOf(book(reopened, other, nearest)), booked.timeMs)).toEqual(
            inWindow(bookRatio(before, other, nearest), booked.timeMs),
          )
          // R-visit-5: everything before the span is unchanged.
          const until = (changes: readonly Change[]) => changes.filter(({ fromMs }) => fromMs < sinceMs)
          expect(until(plain)).toEqual(until(before))
          expect(changesOf(entered)).toEqual(before)
        },
      ),
      { numRuns: cases(1500) },
    )
  })
})
