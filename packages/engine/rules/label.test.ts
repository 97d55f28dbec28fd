import { expect, it } from 'vitest'
import { score } from '../units.ts'
import { label } from './label.ts'

it('R-score-4: labels exactly Unusable, Low, Medium, High, Very high', () => {
  const labels = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(value => label(score(value)))
  expect(labels.slice(0, 1)).toEqual(['Unusable'])
  expect(labels.slice(1, 4)).toEqual(['Low', 'Low', 'Low'])
  expect(labels.slice(4, 7)).toEqual(['Medium', 'Medium', 'Medium'])
  expect(labels.slice(7, 9)).toEqual(['High', 'High'])
  expect(labels.slice(9)).toEqual(['Very high', 'Very high'])
})
