import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { HistoryRow, HistoryStore } from '../../store/history.ts'
import { changeBps, changeOf } from './priceChange.ts'

const price = (numerator: bigint | number, denominator: bigint | number = 1) => ({
  numerator: numerator.toString(),
  denominator: denominator.toString(),
})

it.each([
  [price(2), price(1), 10_000],
  [price(1), price(2), -5000],
  [price(1), price(1), 0],
  // 1.00005 is half a basis point up: to the even 0. 1.00015 is one and a half: to the even 2.
  [price(100_005, 100_000), price(1), 0],
  [price(100_015, 100_000), price(1), 2],
  [price(99_995, 100_000), price(1), 0],
  [price(99_985, 100_000), price(1), -2],
  [price(100_006, 100_000), price(1), 1],
  [price(10n ** 40n), price(1), null],
])('from %j to %j', (now, then, bps) => {
  expect(changeBps(now, then)).toBe(bps)
})

it('is never more than half a basis point from the exact change', () => {
  const value = fc.bigInt({ min: 1n, max: 10n ** 30n })
  fc.assert(
    fc.property(value, value, value, value, (a, b, c, d) => {
      const bps = changeBps(price(a, b), price(c, d))
      if (bps === null) return
      const [grown, base] = [a * d, b * c]
      const difference = 10_000n * (grown - base) - BigInt(bps) * base
      expect(2n * (difference < 0n ? -difference : difference)).toBeLessThanOrEqual(base)
    }),
  )
})

const HOUR_MS = 3_600_000
const storeWith = (points: readonly Pick<HistoryRow, 'atMs' | 'price' | 'expiresAtMs'>[]) =>
  ({
    readTokenAt: (_chain: number, _token: string, moment: { ms: number }) =>
      Promise.resolve(points.filter(point => point.atMs <= moment.ms).at(-1) ?? null),
  }) as unknown as HistoryStore

it('is relative to the prices published an hour and a day before, and null when there were none', async () => {
  const now = { evaluated_at_ms: 100 * HOUR_MS, price_usd: price(3) }
  const change = (...points: readonly [hour: number, price: string | null, expiresHour?: number][]) =>
    changeOf(
      storeWith(
        points.map(([hour, text, expires]) => ({
          atMs: hour * HOUR_MS,
          price: text,
          expiresAtMs: expires === undefined ? null : expires * HOUR_MS,
        })),
      ),
      1,
      '0x',
      now,
    )
  expect(await change()).toBeNull()
  expect(await change([99.5, '2/1'])).toBeNull()
  expect(await change([99, '2/1'])).toEqual({ h1_bps: 5000, h24_bps: null })
  expect(await change([70, '1/1'], [98, '2/1'])).toEqual({ h1_bps: 5000, h24_bps: 20_000 })
  expect(await change([70, '1/1'], [98, null])).toEqual({ h1_bps: null, h24_bps: 20_000 })
  expect(await change([70, '1/1', 75], [98, '2/1', 99])).toBeNull()
})
