import { expect, it } from 'vitest'
import { FORMER_POLICY } from '../policy/former.ts'
import { DEFAULT_POLICY } from '../policy/policy.ts'
import { ms } from '../units.ts'
import { FOREVER } from './timed.ts'
import { tradeAgeCap } from './tradeAge.ts'

const T = ms(1_700_000_000_000)
const DAY = 86_400_000

it('R-trade-1: over 24 hours without a trade caps at 6, over 7 days at 3, and it holds until the next', () => {
  const after = (age: number) => tradeAgeCap(T, T, DEFAULT_POLICY, ms(T + age))
  expect(after(DAY)).toEqual({ value: null, untilMs: T + DAY + 1 })
  expect(after(DAY + 1)).toEqual({ value: { code: 'NO_RECENT_TRADE', cap: 6 }, untilMs: T + 7 * DAY + 1 })
  expect(after(7 * DAY + 1)).toEqual({ value: { code: 'NO_RECENT_TRADE', cap: 3 }, untilMs: FOREVER })
})

it('R-trade-1: while no trade is known the cap is 6, however long the pool is followed', () => {
  for (const atMs of [T, ms(T + 30 * DAY)])
    expect(tradeAgeCap(null, T, DEFAULT_POLICY, atMs)).toEqual({
      value: { code: 'NO_RECENT_TRADE', cap: 6 },
      untilMs: FOREVER,
    })
})

it('R-policy-4: in revision 1 the age counts from when the pool was found', () => {
  expect(tradeAgeCap(null, T, FORMER_POLICY, ms(T + DAY))).toEqual({ value: null, untilMs: T + DAY + 1 })
})
