import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { approx, times } from '../exact/fraction.ts'
import { isSurelyNear } from '../memory/pastBounds.ts'
import { memory } from '../memory/switch.ts'
import { cases } from '../testing/cases.ts'
import { address } from '../testing/chainSim.ts'
import { type Ms, ms } from '../units.ts'
import { type Noted, note, type TokenPast, readAt, rolled } from './ownPast.ts'
import { minuteOf, PAST_MS } from './pastWindow.ts'
import { jumpCap, priceJump } from './priceJump.ts'
import { FOREVER } from './timed.ts'

const T0 = 1_700_000_040_000
const [A, B] = [address(1), address(2)]
const worthOf = (y: typeof A) => {
  const worth = { num: y === A ? 1n : 2_000n, den: 1_000n }
  return { ...worth, approx: approx(worth) }
}

type Move = { readonly afterMs: number; readonly bps: number; readonly y: typeof A }

const move: fc.Arbitrary<Move> = fc.record({
  afterMs: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(0, 1_000, 12_000, 12_000, 60_000) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 900_000 }) },
  ),
  bps: fc.constantFrom(10_000, 10_010, 10_499, 10_500, 9_500, 12_000, 8_000, 15_000, 6_600, 40_000),
  y: fc.constantFrom(A, A, A, B),
})

/** What is noted at a price of so many ten-thousandths of a dollar. */
function foundAt({ bps, y }: Pick<Move, 'bps' | 'y'>): Omit<Noted, 'fromMs'> {
  const { num, den } = worthOf(y)
  const ratio = { num: BigInt(bps) * den, den: 10_000n * num }
  return { ratio, approx: approx(ratio), y, worth: { num, den } }
}

function fold(moves: readonly Move[]): { readonly past: TokenPast; readonly lastMs: Ms } {
  let timeMs = ms(T0)
  let past: TokenPast | null = null
  for (const each of moves) {
    timeMs = ms(timeMs + each.afterMs)
    past = note(past, timeMs, foundAt(each))
  }
  return { past: past as unknown as TokenPast, lastMs: timeMs }
}

const moves = fc.array(move, { minLength: 1, maxLength: 150 })
const price = (bps: number) => ({ num: BigInt(bps), den: 10_000n })
const capAt = (past: TokenPast, bps: number, atMs: Ms) =>
  priceJump(readAt(past, atMs), worthOf, price(bps)).value.cap?.cap ?? null

describe('the past of a token', () => {
  test('R-past-2: at most 60 full minutes, in order, none repeats the one before; the open part is of one minute', () => {
    fc.assert(
      fc.property(moves, list => {
        const { past } = fold(list)
        expect(past.minutes.length).toBeLessThanOrEqual(60)
        const all = [...past.minutes, ...past.open]
        for (const [at, { fromMs }] of all.entries())
          if (at > 0) expect(fromMs).toBeGreaterThanOrEqual(all[at - 1]?.fromMs as number)
        for (const [at, { y, ratio }] of past.minutes.entries()) {
          const before = past.minutes[at - 1]
          if (before !== undefined)
            expect(before.y === y && before.ratio.num * ratio.den === ratio.num * before.ratio.den).toBe(
              false,
            )
        }
        expect(new Set(past.open.map(({ fromMs }) => minuteOf(fromMs))).size).toBe(1)
      }),
      { numRuns: cases(200) },
    )
  })

  test('R-past-2: the time of folding a minute makes no difference: read late or rolled repeatedly', () => {
    fc.assert(
      fc.property(
        moves,
        fc.array(fc.integer({ min: 0, max: 4_000_000 }), { maxLength: 6 }),
        (list, steps) => {
          const { past, lastMs } = fold(list)
          const at = steps.reduce((sum, step) => sum + step, 0)
          let timeMs: number = lastMs
          let slow = past
          for (const step of steps) {
            timeMs += step
            slow = rolled(slow, ms(timeMs))
          }
          expect(slow).toEqual(rolled(past, ms(lastMs + at)))
        },
      ),
      { numRuns: cases(200) },
    )
  })

  test('R-past-2: with one Y a minute is its own median, whatever the anchor did meanwhile', () => {
    fc.assert(
      fc.property(
        fc.array(move, { minLength: 1, maxLength: 80 }),
        fc.array(fc.nat(50), { minLength: 80 }),
        (list, worths) => {
          let timeMs = ms(T0)
          let [still, moving]: [TokenPast | null, TokenPast | null] = [null, null]
          list.forEach((each, at) => {
            timeMs = ms(timeMs + each.afterMs)
            const found = foundAt({ ...each, y: A })
            still = note(still, timeMs, found)
            moving = note(moving, timeMs, {
              ...found,
              worth: { num: 1_000n + BigInt(worths[at] ?? 0), den: 1n },
            })
          })
          expect((moving as unknown as TokenPast).minutes).toEqual((still as unknown as TokenPast).minutes)
        },
      ),
      { numRuns: cases(100) },
    )
  })

  test('R-past-1: a time that runs backwards counts as the same time', () => {
    const first = note(null, ms(T0), foundAt({ bps: 10_000, y: A }))
    const back = note(first, ms(T0 - 5_000), foundAt({ bps: 12_000, y: A }))
    expect(back.open.map(({ fromMs }) => fromMs)).toEqual([T0])
    expect(back.open[0]?.ratio).toEqual(foundAt({ bps: 12_000, y: A }).ratio)
  })
})

describe('the cap', () => {
  test('R-past-5: 500 bps is far and any less is not, either way; so are 2,000 and 5,000', () => {
    const reference = { value: price(10_000), coveredMs: ms(300_000) }
    const capOf = (num: bigint, den: bigint) => jumpCap({ num, den }, reference)?.cap ?? null
    for (const [bps, cap, under] of [
      [500n, 6, null],
      [2_000n, 4, 6],
      [5_000n, 3, 4],
    ] as const) {
      expect(capOf(10_000n + bps, 10_000n)).toBe(cap)
      expect(capOf(10_000n, 10_000n + bps)).toBe(cap)
      expect(capOf((10_000n + bps) * 10n ** 40n - 1n, 10_000n * 10n ** 40n)).toBe(under)
      expect(capOf(10_000n * 10n ** 40n + 1n, (10_000n + bps) * 10n ** 40n)).toBe(under)
    }
    expect(jumpCap(price(90_000), { ...reference, coveredMs: ms(299_999) })).toBeNull()
  })

  test('R-past-6: nothing changes until the time it names, and then something does', () => {
    fc.assert(
      fc.property(
        moves,
        fc.constantFrom(10_000, 10_500, 12_000, 15_000, 9_000),
        fc.integer({ min: 0, max: 5_000_000 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 }),
        (list, marginal, ahead, shares) => {
          const { past, lastMs } = fold(list)
          const atMs = ms(lastMs + ahead)
          const { value, untilMs } = priceJump(readAt(past, atMs), worthOf, price(marginal))
          expect(untilMs).toBeGreaterThan(atMs)
          const endMs = untilMs === FOREVER ? atMs + 2 * PAST_MS : untilMs - 1
          const times = [...shares.map(share => atMs + Math.floor(share * (endMs - atMs))), endMs]
          for (const t of times)
            expect(capAt(past, marginal, ms(t)), `${t - atMs}`).toBe(value.cap?.cap ?? null)
          if (untilMs === FOREVER || minuteOf(untilMs) === untilMs) return
          // Another cap, or the same on the other side: the reference has moved at the least.
          const then = priceJump(readAt(past, untilMs), worthOf, price(marginal)).value
          const moved =
            then.reference.value !== null &&
            value.reference.value !== null &&
            then.reference.value.num * value.reference.value.den !==
              value.reference.value.num * then.reference.value.den
          expect(moved || then.reference.coveredMs === 300_000).toBe(true)
        },
      ),
      { numRuns: cases(400) },
    )
  })

  test('R-past-6: when the bounds are sure that a price is near, the rule never finds a cap', () => {
    fc.assert(
      fc.property(
        moves,
        fc.integer({ min: 9_000, max: 11_000 }),
        fc.nat(4_000_000),
        (list, marginal, ahead) => {
          const { past, lastMs } = fold(list)
          if (!isSurelyNear(past, worthOf, approx(price(marginal)))) return
          const found = priceJump(readAt(past, ms(lastMs + ahead)), worthOf, price(marginal))
          expect([found.value.cap, found.untilMs]).toEqual([null, FOREVER])
        },
      ),
      { numRuns: cases(400) },
    )
    const { past } = fold([{ afterMs: 0, bps: 10_000, y: A }])
    expect(isSurelyNear(past, worthOf, approx(price(10_499)))).toBe(true)
    expect(isSurelyNear(past, worthOf, approx(price(10_500)))).toBe(false)
    memory.isOn = false
    try {
      expect(isSurelyNear(past, worthOf, approx(price(10_000)))).toBe(false)
    } finally {
      memory.isOn = true
    }
  })

  test('R-past-5: the ratios count at the present value of their Y', () => {
    const { past, lastMs } = fold([{ afterMs: 0, bps: 10_000, y: B }])
    const dearer = () => ({ num: 3n, den: 1n, approx: approx({ num: 3n, den: 1n }) })
    const { reference } = priceJump(readAt(past, ms(lastMs + 600_000)), dearer, price(10_000)).value
    const expected = times(foundAt({ bps: 10_000, y: B }).ratio, { num: 3n, den: 1n })
    expect(Number(reference.value?.num) / Number(reference.value?.den)).toBe(
      Number(expected.num) / Number(expected.den),
    )
  })
})
