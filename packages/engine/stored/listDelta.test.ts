/** A list stored as a delta of the one after it is restored exactly, and is short when they share most entries. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../testing/cases.ts'
import { append, changesOf, commonPart, EMPTY, type History, momentsOf } from '../memory/temporalTape.ts'
import { type Count, count, type Ms, ms } from '../units.ts'
import { deltaOf, earlierOf, momentsIn } from './listDelta.ts'

type Item = { readonly fromMs: Ms; readonly value: number }

const delta = (earlier: readonly Item[], later: readonly Item[]) =>
  deltaOf(
    momentsIn(earlier),
    momentsIn(later),
    (at, from) => (earlier[at] as Item).value === (later[from] as Item).value,
  )
const list = fc
  .uniqueArray(fc.record({ fromMs: fc.nat(30).map(ms), value: fc.nat(2) }), { selector: each => each.fromMs })
  .map(items => items.sort((a, b) => a.fromMs - b.fromMs))

test('R-fold-6: a list stored as a delta of any other list is restored', () => {
  fc.assert(
    fc.property(list, list, (earlier, later) => {
      const stored = JSON.parse(JSON.stringify(delta(earlier, later)))
      expect(earlierOf(stored, later)).toEqual(earlier)
      expect(earlierOf(earlier, later)).toEqual(earlier)
    }),
    { numRuns: cases(2_000) },
  )
})

test('a list that lost its first entry and grew does not store the shared part again', () => {
  fc.assert(
    fc.property(list, fc.nat(5), fc.nat(5), (earlier, lost, ended) => {
      const shared = earlier.slice(lost, Math.max(lost, earlier.length - ended))
      const later = [...shared, { fromMs: ms(40), value: 9 }]
      const { before, kept, after } = delta(earlier, later)
      expect(kept).toBe(shared.length)
      expect(before.length + after.length).toBe(earlier.length - shared.length)
    }),
    { numRuns: cases(500) },
  )
})

test('a delta that does not fit the list after it is refused', () => {
  expect(() => earlierOf({ before: [], from: count(1), kept: count(2), after: [] }, [1, 2])).toThrow(
    'does not fit',
  )
})

/** Every history that a pool had, from several branches. */
const histories = fc.array(fc.record({ of: fc.nat(), laterMs: fc.nat(5_000), num: fc.bigInt(1n, 9n) }), {
  minLength: 150,
  maxLength: 250,
})

test('the delta of a history is the same whether or not the common part of the tape is compared', () => {
  let known = 0
  fc.assert(
    fc.property(histories, fc.nat(), fc.nat(), (changes, a, b) => {
      const all: History[] = [EMPTY]
      for (const { of, laterMs, num } of changes) {
        // Mostly the newest grows.
        const from = all[of % 20 === 0 ? of % all.length : all.length - 1] as History
        all.push(append(from, ms((from.open?.fromMs ?? 0) + laterMs), { num, den: 1n }))
      }
      const [earlier, later] = [all.at(-1 - (a % all.length)), all.at(-1 - (b % all.length))] as History[]
      if (earlier === undefined || later === undefined) return
      const [own, other] = [momentsOf(earlier), momentsOf(later)]
      const isSame = (at: Count, from: Count) => own.valueAt(at).num === other.valueAt(from).num
      const common = commonPart(earlier, later)
      known += common?.known ?? 0
      const stored = deltaOf(own, other, isSame, common)
      expect(stored).toEqual(deltaOf(own, other, isSame))
      expect(earlierOf(stored, changesOf(later))).toEqual(changesOf(earlier))
    }),
    { numRuns: cases(100) },
  )
  expect(known).toBeGreaterThan(300)
})
