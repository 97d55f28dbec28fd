import { expect, it } from 'vitest'
import { feedScore, stateScore } from './feedAndState.ts'

it('R-edge-3: HEALTHY 10, DEGRADED 3, GAP 0, UNAVAILABLE 0', () => {
  expect((['HEALTHY', 'DEGRADED', 'GAP', 'UNAVAILABLE'] as const).map(feedScore)).toEqual([10, 3, 0, 0])
})

it('R-edge-4: unverified 0, canonical 8, finalized 10', () => {
  expect((['unverified', 'canonical', 'finalized'] as const).map(stateScore)).toEqual([0, 8, 10])
})
