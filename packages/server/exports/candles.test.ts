import { exact } from '@assay/sdk'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CandleMaker } from './candles.ts'

type Candle = {
  readonly from_ms: number
  readonly to_ms: number
  readonly open: { readonly display: string }
  readonly high: { readonly display: string }
  readonly low: { readonly display: string }
  readonly close: { readonly display: string }
  readonly records: number
}

function candlesOf(intervalMs: number, points: readonly { atMs: number; price: string | null }[]): Candle[] {
  const maker = new CandleMaker(intervalMs)
  for (const point of points) maker.take(point)
  maker.end()
  return maker.made as Candle[]
}

it('a bucket without a price is absent: neither zero nor the previous one', () => {
  const candles = candlesOf(60_000, [
    { atMs: 59_999, price: '1/2' },
    { atMs: 60_000, price: '3/2' },
    { atMs: 90_000, price: null },
    { atMs: 119_999, price: '1/1' },
    { atMs: 200_000, price: null },
    { atMs: 240_000, price: '2/1' },
  ])
  expect(candles.map(each => [each.from_ms, each.to_ms, each.records])).toEqual([
    [0, 60_000, 1],
    [60_000, 120_000, 2],
    [240_000, 300_000, 1],
  ])
  expect(candles[1]).toMatchObject({
    open: { display: '1.5' },
    high: { display: '1.5' },
    low: { display: '1' },
    close: { display: '1' },
  })
})

it('has the exact extremes of its records, whatever their order', () => {
  const price = fc.tuple(fc.bigInt(1n, 10n ** 40n), fc.bigInt(1n, 10n ** 40n))
  fc.assert(
    fc.property(fc.array(price, { minLength: 1, maxLength: 20 }), prices => {
      const values = prices.map(([num, den]) => ({ num, den }))
      const [candle] = candlesOf(
        1000,
        values.map(({ num, den }, atMs) => ({ atMs, price: `${num}/${den}` })),
      )
      const sorted = values.toSorted(exact.compare)
      const text = (value: exact.Exact | undefined) => exact.format(value as exact.Exact)
      expect(candle?.low.display).toBe(text(sorted[0]))
      expect(candle?.high.display).toBe(text(sorted.at(-1)))
      expect(candle?.open.display).toBe(text(values[0]))
      expect(candle?.close.display).toBe(text(values.at(-1)))
      expect(candle?.records).toBe(values.length)
    }),
  )
})
