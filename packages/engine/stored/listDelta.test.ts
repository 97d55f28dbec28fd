/** A list stored as a delta of the one after it is restored exactly, and is short when they share most entries. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../testing/cases.ts'
import { count, type Ms, ms } from '../units.ts'
import { deltaOf, earlierOf } from './listDelta.ts'

type Item = { readonly fromMs: Ms; readonly value: number }

const isSame = (a: Item, b: Item): boolean => a.value === b.value
const list = fc
  .uniqueArray(fc.record({ fromMs: fc.nat(30).map(ms), value: fc.nat(2) }), { selector: each => each.fromMs })
  .map(items => items.sort((a, b) => a.fromMs - b.fromMs))

test('R-fold-6: a list stored as a delta of any other list is restored', () => {
  fc.assert(
    fc.property(list, list, (earlier, later) => {
      const stored = JSON.parse(JSON.stringify(deltaOf(earlier, later, isSame)))
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
      const { before, kept, after } = deltaOf(earlier, later, isSame)
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
