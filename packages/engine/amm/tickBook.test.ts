import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { count, tick as toTick } from '../units.ts'
import { build, changeOf, poolPlan, positionPlan } from '../testing/pools.ts'
import * as tickBitmap from './tickBitmap.ts'
import * as tickBook from './tickBook.ts'
import { MAX_TICK, MIN_TICK } from './ticks.ts'

const SPACING = toTick(10)
const change = (lower: bigint, upper: bigint, delta: bigint) => ({
  lower: toTick(Number(lower)),
  upper: toTick(Number(upper)),
  delta,
})
const entry = (tick: bigint, gross: bigint, net: bigint) => ({ tick: toTick(Number(tick)), gross, net })

const make =
  (...entries: tickBook.TickEntry[]) =>
  () =>
    new tickBook.TickBook(SPACING, tickBook.FULL_RANGE, entries)

describe('R-ticks-3, R-ticks-4: tick book', () => {
  it('keeps what starts and what ends at a tick, and drops a tick when both are gone', () => {
    const book = tickBook.fromLoaded(SPACING, null)
    expect(book.change(change(-10n, 10n, 5n))).toBe(true)
    expect(book.change(change(10n, 20n, 7n))).toBe(true)
    expect(book.entries()).toEqual([entry(-10n, 5n, 5n), entry(10n, 12n, 2n), entry(20n, 7n, -7n)])
    expect(book.change(change(-10n, 10n, -5n))).toBe(true)
    expect(book.entries()).toEqual([entry(10n, 7n, 7n), entry(20n, 7n, -7n)])
  })

  it('a change and its inverse leave it as it was', () => {
    fc.assert(
      fc.property(poolPlan, fc.array(positionPlan, { maxLength: 8 }), (plan, more) => {
        const { terms, changes } = build(plan)
        const before = terms.book.entries()
        const applied = more.flatMap(position => {
          const one = changeOf(plan, position)
          return one !== null && terms.book.change(one) ? [one] : []
        })
        for (const one of applied.reverse())
          expect(terms.book.change({ ...one, delta: -one.delta })).toBe(true)
        expect(terms.book.entries()).toEqual(before)
        for (const one of [...changes].reverse())
          expect(terms.book.change({ ...one, delta: -one.delta })).toBe(true)
        expect(terms.book.size).toBe(0)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('agrees with a plain sum over its positions', () => {
    fc.assert(
      fc.property(poolPlan, plan => {
        const { terms, changes } = build(plan)
        const sums = new Map<bigint, { gross: bigint; net: bigint }>()
        const add = (tick: bigint, gross: bigint, net: bigint) => {
          const sum = sums.get(tick) ?? { gross: 0n, net: 0n }
          sums.set(tick, { gross: sum.gross + gross, net: sum.net + net })
        }
        for (const { lower, upper, delta } of changes) {
          add(BigInt(lower), delta, delta)
          add(BigInt(upper), delta, -delta)
        }
        const expected = [...sums]
          .sort(([a], [b]) => Number(a - b))
          .map(([tick, sum]) => entry(tick, sum.gross, sum.net))
        expect(terms.book.entries()).toEqual(expected)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('reads back from its entries as the same book', () => {
    fc.assert(
      fc.property(poolPlan, plan => {
        const { book } = build(plan).terms
        const copy = new tickBook.TickBook(book.tickSpacing, tickBook.FULL_RANGE, book.entries().reverse())
        expect(copy.entries()).toEqual(book.entries())
        expect([copy.lowest, copy.highest]).toEqual([MIN_TICK, MAX_TICK])
      }),
      { numRuns: cases(500) },
    )
  })

  it('refuses to remove more than there is, and stays unchanged', () => {
    const book = tickBook.fromLoaded(SPACING, null)
    book.change(change(-10n, 10n, 5n))
    book.change(change(10n, 20n, 7n))
    const before = book.entries()
    // Twelve start or end at 10, but only five end there and seven start there.
    expect(book.change(change(-10n, 10n, -6n))).toBe(false)
    expect(book.change(change(10n, 20n, -8n))).toBe(false)
    expect(book.change(change(-10n, 20n, -6n))).toBe(false)
    expect(book.change(change(30n, 40n, -1n))).toBe(false)
    expect(book.heldBetween(toTick(-10), toTick(20))).toBe(5n)
    expect(book.entries()).toEqual(before)
  })

  it('limits what is removed by both of its ticks', () => {
    const book = tickBook.fromLoaded(SPACING, null)
    for (const one of [
      change(-10n, 10n, 5n),
      change(10n, 20n, 7n),
      change(0n, 20n, 100n),
      change(-10n, 0n, 100n),
    ]) {
      expect(book.change(one)).toBe(true)
    }
    // A hundred more end at 20 than start at 10, and a hundred more start at -10 than end at 10.
    expect(book.change(change(10n, 20n, -8n))).toBe(false)
    expect(book.change(change(-10n, 10n, -6n))).toBe(false)
    expect(book.change(change(10n, 20n, -7n))).toBe(true)
    expect(book.change(change(-10n, 10n, -5n))).toBe(true)
  })

  it('refuses ticks outside the contract’s range, and more than 128 bits on one', () => {
    const book = tickBook.fromLoaded(SPACING, null)
    expect(book.change(change(5n, 10n, 1n))).toBe(false)
    expect(book.change(change(10n, 10n, 1n))).toBe(false)
    expect(book.change(change(20n, 10n, 1n))).toBe(false)
    expect(book.change(change(-887280n, 10n, 1n))).toBe(false)
    expect(book.change(change(0n, 10n, 1n << 128n))).toBe(false)
    expect(book.change(change(0n, 10n, (1n << 128n) - 1n))).toBe(true)
    expect(book.change(change(0n, 20n, 1n))).toBe(false)
    expect(book.change(change(0n, 20n, 0n))).toBe(true)
    expect(book.size).toBe(2)
  })

  it('keeps nothing outside its known range, and ignores changes there', () => {
    const book = new tickBook.TickBook(SPACING, { lowest: toTick(-100), highest: toTick(100) }, [])
    expect(book.change(change(-200n, 50n, 9n))).toBe(true)
    expect(book.entries()).toEqual([entry(50n, 9n, -9n)])
    expect(book.change(change(-200n, 50n, -10n))).toBe(false)
    expect(book.change(change(-300n, 300n, -1n))).toBe(true)
    expect(book.change(change(-200n, 50n, -9n))).toBe(true)
    expect(book.size).toBe(0)
  })

  it('is built from bitmap words, which decide what is known', () => {
    const words = [-1n, 0n].map(position => ({ position, bits: position === 0n ? 0b101n : 1n << 255n }))
    const entries = [entry(-10n, 4n, 4n), entry(0n, 3n, 1n), entry(20n, 5n, -5n)]
    const book = tickBook.fromWords(SPACING, words, entries)
    expect([book.lowest, book.highest]).toEqual([-2560, 2550])
    expect(book.entries()).toEqual(entries)
    expect(() => tickBook.fromWords(SPACING, words, entries.slice(1))).toThrow('marked')
    expect(() =>
      tickBook.fromWords(
        SPACING,
        [words[0], words[0]].flatMap(w => w ?? []),
        entries,
      ),
    ).toThrow('follow')
    expect(() => tickBook.fromWords(SPACING, [], [])).toThrow('at least one')
  })

  it('knows the whole range once the words reach the last usable ticks', () => {
    for (const spacing of [1, 10, 60, 200, 16_383].map(toTick)) {
      const usable = toTick(Math.floor(MAX_TICK / spacing) * spacing)
      const first = tickBitmap.positionOf(toTick(0 - usable), spacing).word
      const last = tickBitmap.positionOf(usable, spacing).word
      const words = Array.from({ length: Number(last - first) + 1 }, (_, i) => ({
        position: first + BigInt(i),
        bits: 0n,
      }))
      const whole = tickBook.fromWords(spacing, words, [])
      expect([whole.lowest, whole.highest]).toEqual([MIN_TICK, MAX_TICK])
      if (words.length === 1) continue
      expect(tickBook.fromWords(spacing, words.slice(1), []).lowest).toBeGreaterThan(MIN_TICK)
      expect(tickBook.fromWords(spacing, words.slice(0, -1), []).highest).toBeLessThan(MAX_TICK)
    }
  })

  it('refuses entries that no positions produce', () => {
    expect(make(entry(5n, 1n, 1n))).toThrow('multiple')
    expect(make(entry(10n, 1n, 1n), entry(10n, 1n, 1n))).toThrow('twice')
    expect(make(entry(10n, 1n, 3n))).toThrow('no positions')
    expect(make(entry(10n, 2n, 1n))).toThrow('no positions')
    expect(make(entry(10n, 0n, 0n))).toThrow('no positions')
    expect(make(entry(887_280n, 1n, 1n))).toThrow('outside')
    expect(() => tickBook.fromLoaded(toTick(0), null)).toThrow('spacing')
    expect(() => new tickBook.TickBook(SPACING, { lowest: toTick(10), highest: toTick(0) }, [])).toThrow(
      'range',
    )
  })

  it('finds the greatest tick at or below', () => {
    const book = new tickBook.TickBook(SPACING, tickBook.FULL_RANGE, [
      entry(-20n, 1n, 1n),
      entry(30n, 1n, -1n),
    ])
    expect([-21, -20, 0, 29, 30, 31].map(tick => book.positionAtOrBelow(toTick(tick)))).toEqual([
      -1, 0, 0, 0, 1, 1,
    ])
    expect(book.tickAt(count(1))).toBe(30)
    expect(book.netAt(count(1))).toBe(-1n)
  })
})
