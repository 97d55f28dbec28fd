import { expect, it } from 'vitest'
import { priceTexts, stepsOf, timeTexts } from './app/parts/chartData.ts'

const point = (atMs: number, price: number | null) => ({ atMs, price, score: null, block: 1 })
const line = (...steps: readonly (readonly [atMs: number, price: number | null])[]) =>
  steps.map(([atMs, price]) => expect.objectContaining({ atMs, price }))

it('a price is drawn until it is gone, and the last one until now', () => {
  expect(stepsOf([point(100, 2), point(500, null), point(900, 3)], 1000)).toEqual(
    line([100, 2], [499, 2], [500, null], [900, 3], [1000, 3]),
  )
})

it('where there was no price the line stays broken, now too', () => {
  expect(stepsOf([point(100, null), point(500, null)], 900)).toEqual(
    line([100, null], [500, null], [900, null]),
  )
  expect(stepsOf([], 900)).toEqual([])
})

it('a midnight of the time axis is a date, so that a week does not read as one day over and over', () => {
  const ticks = [8, 16, 24, 32].map(hour => new Date(2026, 10, 18, hour).getTime() / 1000)
  expect(timeTexts(ticks)).toEqual(['08:00', '16:00', '19 Nov', '08:00'])
  const halves = [12, 24, 36].map(hour => new Date(2026, 10, 18, hour).getTime() / 1000)
  expect(timeTexts(halves)).toEqual(['12:00', '19 Nov', '12:00'])
  expect(timeTexts([18, 19].map(day => new Date(2026, 10, day, 9).getTime() / 1000))).toEqual([
    '18 Nov',
    '19 Nov',
  ])
  expect(timeTexts([0, 10].map(second => new Date(2026, 10, 18, 9, 5, second).getTime() / 1000))).toEqual([
    '09:05:00',
    '09:05:10',
  ])
})

it('prices of the axis have the same number of decimals, whatever their magnitude', () => {
  expect(priceTexts([1.39, 1.395, 1.4])).toEqual(['1.390', '1.395', '1.400'])
  expect(priceTexts([1900, 2000])).toEqual(['1900', '2000'])
  expect(priceTexts([0, 0.0000002])).toEqual(['0', '2.00e-7'])
  expect(priceTexts([])).toEqual([])
})
