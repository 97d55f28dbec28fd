import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Fraction } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import { cases } from '../testing/cases.ts'
import { type Ms, ms } from '../units.ts'
import { type Reference, temporalMedian } from '../rules/temporalMedian.ts'
import type { Change } from '../rules/temporalWindow.ts'
import { FOREVER } from '../rules/timed.ts'
import { nextFlip, reference } from './tapeMedian.ts'
import { append, changesOf, EMPTY, type History, restore } from './temporalTape.ts'

const T = ms(1_700_000_000_000)
const WINDOW = 300_000
const after = (from: Ms, more: Ms | bigint): Ms => ms(from + Number(more))
const whole = (num: bigint): Fraction => ({ num, den: 1n })

/** A few ratios, written in several ways, at times that coincide now and then. */
const someChanges = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constantFrom(0, 0, 1, 1_000, 150_000, 300_000), fc.integer({ min: 0, max: 90_000 })),
      fc.bigInt(1n, 6n),
      fc.bigInt(1n, 3n),
    ),
    { minLength: 1, maxLength: 14 },
  )
  .map(steps => {
    let time = T
    return steps.map(([gap, num, shared]): Change => {
      time = ms(time + gap)
      return { fromMs: time, ratio: { num: num * shared, den: 3n * shared } }
    })
  })
const readAhead = fc.oneof(
  fc.integer({ min: 0, max: 320_000 }),
  fc.constantFrom(0, 1, 149_999, 150_000, 300_000),
)

/** The rule as it is written, over all changes ever made: no trimming, a fresh sort, merged ratios. */
function byDefinition(changes: readonly Change[], t: Ms): Fraction | null {
  const lastOfTime = changes.filter(({ fromMs }, at) => changes[at + 1]?.fromMs !== fromMs)
  const oldest = lastOfTime[0] as Change
  if (t - oldest.fromMs < WINDOW) return null
  const merged: { ratio: Fraction; weight: Ms }[] = []
  lastOfTime.forEach(({ fromMs, ratio: value }, at) => {
    const until = Math.min(t, lastOfTime[at + 1]?.fromMs ?? t)
    const weight = ms(Math.max(0, until - Math.max(fromMs, t - WINDOW)))
    const same = merged.find(other => fraction.compare(other.ratio, value) === 0)
    if (same === undefined) merged.push({ ratio: value, weight })
    else same.weight = ms(same.weight + weight)
  })
  merged.sort((a, b) => fraction.compare(a.ratio, b.ratio))
  let cumulative = 0
  for (const { ratio: value, weight } of merged) {
    cumulative += weight
    if (2 * cumulative >= WINDOW) return value
  }
  return expect.fail('the window is covered, so some ratio reaches half of it')
}

function isSame(a: Reference, b: Reference): boolean {
  if ('reason' in a || 'reason' in b) return 'reason' in a && 'reason' in b
  return a.median === b.median || fraction.compare(a.median, b.median) === 0
}

function medianOf(found: Reference): Fraction | null {
  return 'median' in found ? found.median : null
}

const last = (history: History): Ms => changesOf(history).at(-1)?.fromMs ?? T
const numerators = (history: History): bigint[] => changesOf(history).map(({ ratio: { num } }) => num)

describe('reference', () => {
  it('R-temporal-2: is the median by duration over (t − 300,000, t], as defined', () => {
    fc.assert(
      fc.property(someChanges, readAhead, (changes, ahead) => {
        const history = restore(changes)
        const t = ms((changes.at(-1) as Change).fromMs + ahead)
        const expected = byDefinition(changes, t)
        const found = medianOf(reference(history, t))
        if (expected === null || found === null) expect(found).toBe(expected)
        else expect(fraction.compare(found, expected)).toBe(0)
      }),
      { numRuns: cases(3000) },
    )
  })

  it('agrees with the definition on the history of a busy pool', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt(1n, 400n), { minLength: 900, maxLength: 900 }), ratios => {
        const changes = ratios.map((num, at) => ({ fromMs: ms(T + at * 428), ratio: { num, den: 401n } }))
        const history = restore(changes)
        expect(changesOf(history).length).toBeGreaterThan(600)
        const t = ms((changes.at(-1) as Change).fromMs + 77)
        const expected = byDefinition(changes, t)
        const found = medianOf(reference(history, t))
        expect(expected !== null && found !== null && fraction.compare(found, expected) === 0).toBe(true)
      }),
      { numRuns: cases(10) },
    )
  })

  it('R-temporal-3: a coverage below 300,000 ms gives INSUFFICIENT_HISTORY with the covered time', () => {
    const history = append(EMPTY, T, whole(1n))
    expect(reference(EMPTY, T)).toEqual({ reason: 'INSUFFICIENT_HISTORY', coveredMs: 0 })
    expect(reference(history, after(T, 299_999n))).toEqual({
      reason: 'INSUFFICIENT_HISTORY',
      coveredMs: 299_999,
    })
    expect(reference(history, after(T, 300_000n))).toEqual({
      median: whole(1n),
      approx: 1,
      coveredMs: 300_000,
    })
  })

  it('R-temporal-2: the first ratio with 2 × cumulative ≥ total: exactly half is enough', () => {
    const history = append(append(EMPTY, T, whole(1n)), after(T, 300_000n), whole(2n))
    expect(medianOf(reference(history, after(T, 450_000n)))).toEqual(whole(1n))
    expect(medianOf(reference(history, after(T, 450_001n)))).toEqual(whole(2n))
  })

  it('R-temporal-2: equal ratios merge, however they are written and whatever lies between', () => {
    const history = restore([
      { fromMs: T, ratio: whole(9n) },
      { fromMs: after(T, 300_000n), ratio: { num: 10n, den: 2n } },
      { fromMs: after(T, 380_000n), ratio: whole(1n) },
      { fromMs: after(T, 520_000n), ratio: whole(5n) },
    ])
    // At 600,000: 5 for 80,000, 1 for 140,000, 5 for 80,000: apart no 5 reaches half, together they do.
    expect(medianOf(reference(history, after(T, 600_000n)))).toEqual({ num: 10n, den: 2n })
  })

  it('a read from before the newest entry counts as made when that entry began', () => {
    const history = append(append(EMPTY, T, whole(1n)), after(T, 400_000n), whole(2n))
    expect(reference(history, after(T, 390_000n))).toEqual(reference(history, after(T, 400_000n)))
  })
})

describe('memory', () => {
  it('a tape finds what the rule finds on the same changes, and until the same time', () => {
    fc.assert(
      fc.property(someChanges, fc.array(readAhead, { minLength: 1, maxLength: 4 }), (changes, reads) => {
        const history = restore(changes)
        for (const ahead of reads) {
          const t = ms(last(history) + ahead)
          const plain = temporalMedian(changesOf(history), t)
          expect(reference(history, t)).toEqual(plain.value)
          expect(nextFlip(history, t)).toBe(plain.untilMs)
        }
      }),
      { numRuns: cases(1000) },
    )
  })
})

describe('append', () => {
  it('R-temporal-1: of blocks with the same time only the last counts', () => {
    const twice = append(
      append(append(EMPTY, T, whole(1n)), after(T, 5n), whole(2n)),
      after(T, 5n),
      whole(3n),
    )
    expect(twice).toEqual(append(append(EMPTY, T, whole(1n)), after(T, 5n), whole(3n)))
    expect(append(append(EMPTY, T, whole(1n)), T, whole(2n))).toEqual(append(EMPTY, T, whole(2n)))
  })

  it('a block that reverses the move of the same time leaves no trace', () => {
    const before = append(EMPTY, T, whole(1n))
    const back = append(append(before, after(T, 5n), whole(2n)), after(T, 5n), { num: 3n, den: 3n })
    expect(changesOf(back)).toEqual(changesOf(before))
  })

  it('an equal ratio is not a new entry', () => {
    const history = append(EMPTY, T, whole(2n))
    expect(append(history, after(T, 5n), { num: 4n, den: 2n })).toBe(history)
  })

  it('a block time before the last entry counts as the same time', () => {
    const history = append(append(EMPTY, T, whole(1n)), after(T, 9n), whole(2n))
    const again = append(history, after(T, 3n), whole(3n))
    expect(changesOf(again).map(({ fromMs }) => fromMs)).toEqual([T, T + 9])
  })

  it('drops entries that ended before the window and keeps the one still holding when it begins', () => {
    let history = restore([
      { fromMs: T, ratio: whole(1n) },
      { fromMs: after(T, 10n), ratio: whole(2n) },
      { fromMs: after(T, 20n), ratio: whole(3n) },
    ])
    history = append(history, after(T, 300_010n), whole(4n))
    expect(numerators(history)).toEqual([2n, 3n, 4n])
    history = append(history, after(T, 300_019n), whole(5n))
    expect(numerators(history)).toEqual([2n, 3n, 4n, 5n])
    history = append(history, after(T, 900_000n), whole(6n))
    expect(numerators(history)).toEqual([5n, 6n])
  })

  it('keeps changes that differ from one another, and none that ended before the window', () => {
    fc.assert(
      fc.property(someChanges, changes => {
        const history = restore(changes)
        const kept = changesOf(history)
        kept.slice(1).forEach((following, at) => {
          const change = kept[at] as Change
          expect(following.fromMs).toBeGreaterThan(change.fromMs)
          expect(following.fromMs).toBeGreaterThan(last(history) - WINDOW)
          expect(fraction.compare(change.ratio, following.ratio)).not.toBe(0)
        })
        expect(changesOf(restore(kept))).toEqual(kept)
      }),
      { numRuns: cases(1500) },
    )
  })

  it('branching from a history, however often, does not change it', () => {
    // Near enough to stay in the window for long, far enough to leave it; now and then at the same time.
    const step = fc.tuple(fc.nat({ max: 7 }), fc.constantFrom(0, 1, 2_000, 9_000, 20_000), fc.bigInt(1n, 9n))
    fc.assert(
      fc.property(fc.array(step, { minLength: 80, maxLength: 160 }), steps => {
        const grown = [{ changes: [] as readonly Change[], history: EMPTY }]
        for (const [back, gap, num] of steps) {
          // Mostly on from the last one, as blocks do; after a reorganisation from one before it.
          const from = grown.at(back === 0 ? -Math.min(3, grown.length) : -1) ?? {
            changes: [],
            history: EMPTY,
          }
          const change = { fromMs: ms((from.changes.at(-1)?.fromMs ?? T) + gap), ratio: { num, den: 10n } }
          const history = append(from.history, change.fromMs, change.ratio)
          grown.push({ changes: [...from.changes, change], history })
          // A read leaves behind where it found the median, for the reads of others too.
          reference(history, ms(change.fromMs + 1))
        }
        for (const { changes, history } of grown.slice(1)) {
          expect(changesOf(history)).toEqual(changesOf(restore(changes)))
          for (const ahead of [0, 100_000, 299_999]) {
            const t = ms((changes.at(-1) as Change).fromMs + ahead)
            const found = medianOf(reference(history, t))
            const expected = byDefinition(changes, t)
            expect(
              found === null || expected === null
                ? found === expected
                : fraction.compare(found, expected) === 0,
            ).toBe(true)
          }
        }
      }),
      { numRuns: cases(60) },
    )
  })
})

describe('nextFlip', () => {
  it('is the first later time with another outcome, as found by checking every millisecond', () => {
    fc.assert(
      fc.property(someChanges, readAhead, (changes, ahead) => {
        const history = restore(changes)
        const t = ms(last(history) + ahead)
        const now = reference(history, t)
        let first: Ms = FOREVER
        for (let time = ms(t + 1); time <= t + WINDOW + 1; time = ms(time + 1))
          if (!isSame(reference(history, time), now)) {
            first = time
            break
          }
        expect(nextFlip(history, t)).toBe(first)
      }),
      { numRuns: cases(25) },
    )
  })

  it('separates two outcomes, and no time before it differs from now', () => {
    const fractions = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 6, maxLength: 6 })
    fc.assert(
      fc.property(someChanges, readAhead, fractions, (changes, ahead, shares) => {
        const history = restore(changes)
        const t = ms(last(history) + ahead)
        const now = reference(history, t)
        const flip = nextFlip(history, t)
        const end = flip === FOREVER ? ms(t + 2 * WINDOW) : ms(flip - 1)
        expect(end).toBeGreaterThanOrEqual(t)
        for (const share of [...shares, 1])
          expect(isSame(reference(history, ms(t + Math.floor(share * (end - t)))), now)).toBe(true)
        if (flip !== FOREVER) expect(isSame(reference(history, flip), now)).toBe(false)
      }),
      { numRuns: cases(2500) },
    )
  })

  it('is when coverage completes while history is insufficient', () => {
    const history = append(append(EMPTY, T, whole(1n)), after(T, 40_000n), whole(2n))
    expect(nextFlip(history, after(T, 50_000n))).toBe(T + 300_000)
  })

  it('never comes when nothing changes any more: no entry, one ratio, or the newest ratio already the median', () => {
    expect(nextFlip(EMPTY, T)).toBe(FOREVER)
    const single = append(EMPTY, T, whole(1n))
    expect(nextFlip(single, after(T, 300_000n))).toBe(FOREVER)
    const moved = append(single, after(T, 300_000n), whole(2n))
    expect(nextFlip(moved, after(T, 450_001n))).toBe(FOREVER)
  })

  it('is the moment after half of the window for one step up, and half of it for one step down', () => {
    const base = append(EMPTY, T, whole(5n))
    const moment = after(T, 300_000n)
    expect(nextFlip(append(base, moment, whole(6n)), moment)).toBe(moment + 150_001)
    expect(nextFlip(append(base, moment, whole(4n)), moment)).toBe(moment + 150_000)
  })

  it('from before the newest entry is the same as from its beginning', () => {
    const history = append(append(EMPTY, T, whole(5n)), after(T, 300_000n), whole(6n))
    expect(nextFlip(history, after(T, 200_000n))).toBe(nextFlip(history, after(T, 300_000n)))
  })
})
