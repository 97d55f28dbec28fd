import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { viewFrom, viewText } from '../stored/anchorText.ts'
import { cases } from '../testing/cases.ts'
import { score, type Score } from '../units.ts'
import { anchorChange, type AnchorView, isPricedView, type RouteView } from './anchorView.ts'

const aScore = fc.integer({ min: 0, max: 10 }).map(score)
const caps = fc.array(
  fc.record({ code: fc.constantFrom('SINGLE_SOURCE' as const, 'STABLE_STALE' as const), cap: aScore }),
  { maxLength: 2 },
)
const ids = fc.constantFrom('0xa', '0xb', '0xb-0xc')
const unique = <Of extends { readonly id: string }>(of: fc.Arbitrary<Of>) =>
  fc
    .uniqueArray(of, { maxLength: 3, selector: ({ id }) => id })
    .map(list => list.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
const minor = unique<RouteView>(fc.record({ id: ids, score: aScore, caps }))
const aView: fc.Arbitrary<AnchorView> = fc.oneof(
  fc.record({ reason: fc.constantFrom('FEED' as const, 'NO_ROUTE' as const), minor }),
  fc.record({ score: aScore, caps, material: unique(fc.record({ id: ids, score: aScore })), minor }),
)

it('R-fold-6: a view reads back as written', () => {
  fc.assert(
    fc.property(aView, view => {
      expect(viewFrom(viewText(view))).toEqual(view)
    }),
    { numRuns: cases(1000) },
  )
})

it('R-trigger-8: two views are equal when dependents see no difference', () => {
  fc.assert(
    fc.property(aView, aView, (before, now) => {
      expect(anchorChange(before, before)).toBeNull()
      expect(anchorChange(before, now) === null).toBe(viewText(before) === viewText(now))
    }),
    { numRuns: cases(1000) },
  )
})

it('R-trigger-8: a change is in the anchor itself, or in routes that matter little to it', () => {
  const route = (id: string, points: Score): RouteView => ({ id, score: points, caps: [] })
  const before: AnchorView = { score: score(7), caps: [], material: [], minor: [route('a', score(5))] }
  expect(anchorChange(undefined, before)).toMatchObject({ isMain: true, isStillPriced: false })
  expect(anchorChange(before, { ...before, score: score(6) })).toMatchObject({
    isMain: true,
    isStillPriced: true,
  })
  expect(anchorChange(before, { ...before, minor: [route('a', score(4)), route('b', score(9))] })).toEqual({
    isMain: false,
    isStillPriced: true,
    minorIds: new Set(['a', 'b']),
  })
  expect(anchorChange(before, { reason: 'FEED', minor: [] })).toMatchObject({ isStillPriced: false })
  expect([isPricedView(before), isPricedView(undefined)]).toEqual([true, false])
})
