import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FORMER_POLICY } from '../policy/former.ts'
import { DEFAULT_POLICY } from '../policy/policy.ts'
import { cases } from '../testing/cases.ts'
import { type Ms, ms, score } from '../units.ts'
import { HISTORY_MS, historyCap, lastTradeCap, type Past, temporalLimit } from './history.ts'
import { FOREVER, type Timed } from './timed.ts'

const MINUTE = 60_000
const DAY = 1440 * MINUTE
const READ_MS = ms(1_700_000_000_000)
const at = (after: number): Ms => ms(READ_MS + after)
const past = (over: Partial<Past> = {}): Past => ({
  kind: 'READ',
  readMs: READ_MS,
  isProven: true,
  times: 'EXACT',
  tradedByMs: null,
  ...over,
})

describe('the cap on an unknown history', () => {
  it.each(['UNREAD', 'SHORT'] as const)(
    'R-history-3, R-history-4: %s holds the score at 3 until 35 minutes have been observed',
    kind => {
      const cap = { code: `HISTORY_${kind}`, cap: 3 }
      expect(historyCap(past({ kind }), at(0))).toEqual({ value: cap, untilMs: at(35 * MINUTE) })
      expect(historyCap(past({ kind }), at(35 * MINUTE - 1)).value).toEqual(cap)
      expect(historyCap(past({ kind }), at(35 * MINUTE))).toEqual({ value: null, untilMs: FOREVER })
    },
  )

  it('R-history-3: a history that was read, or never requested, has none', () => {
    expect([historyCap(past(), at(0)).value, historyCap(null, at(0)).value]).toEqual([null, null])
    expect(HISTORY_MS).toBe(35 * MINUTE)
  })
})

describe('the limit on what logs reveal about a price', () => {
  it.each([
    ['R-history-5: proven and of exact times', {}, 10],
    ['R-history-5: without a proof', { isProven: false }, 8],
    ['R-history-5: of times that lie between known ones', { times: 'INTERPOLATED' }, 6],
    ['R-history-5: of neither', { isProven: false, times: 'INTERPOLATED' }, 6],
    ['R-history-5: not there', { kind: 'UNREAD', isProven: false }, 10],
  ] as const)('%s', (_, over, limit) => {
    const untilMs = limit === 10 ? FOREVER : at(5 * MINUTE)
    expect(temporalLimit(past(over), at(0))).toEqual({ value: limit, untilMs })
    expect(temporalLimit(past(over), at(5 * MINUTE - 1)).value).toBe(limit)
    expect(temporalLimit(past(over), at(5 * MINUTE)).value).toBe(10)
  })
})

describe('the last trade of a pool without an observed trade', () => {
  const cap = (tradedByMs: Ms | null, after = 0, policy = DEFAULT_POLICY) =>
    lastTradeCap({ lastTradeMs: null, trackedSinceMs: at(0), past: past({ tradedByMs }) }, policy, at(after))
      .value?.cap

  it('R-history-7: 6 whatever the bound, since anyone can make it later; 3 when even the bound is a week old', () => {
    expect([cap(null), cap(at(0)), cap(at(-2 * DAY)), cap(at(-7 * DAY))]).toEqual([6, 6, 6, 6])
    expect([cap(at(-7 * DAY - 1)), cap(at(-3 * 365 * DAY)), cap(at(0), 7 * DAY + 1)]).toEqual([3, 3, 3])
  })

  it('R-history-7: a bound never lifts the cap of an unknown trade, and does not affect a known one', () => {
    const strict = { ...DEFAULT_POLICY, trade: { ...DEFAULT_POLICY.trade, unknown_cap: score(2) } }
    expect([cap(at(0), 0, strict), cap(at(-8 * DAY), 0, strict)]).toEqual([2, 2])
    const known = { lastTradeMs: at(0), trackedSinceMs: at(0), past: past({ tradedByMs: at(-8 * DAY) }) }
    expect(lastTradeCap(known, DEFAULT_POLICY, at(0)).value).toBe(null)
  })

  it('R-policy-4: in revision 1 the age counts from when the pool was found, whatever the bound', () => {
    expect([cap(at(-8 * DAY), 0, FORMER_POLICY), cap(null, DAY + 1, FORMER_POLICY)]).toEqual([undefined, 6])
  })
})

it('R-history-3, R-history-5, R-history-7: nothing changes before the moment that is named', () => {
  const over = fc.record({
    kind: fc.constantFrom('READ', 'SHORT', 'UNREAD'),
    isProven: fc.boolean(),
    times: fc.constantFrom('EXACT', 'INTERPOLATED'),
    tradedByMs: fc.option(fc.integer({ min: -8 * DAY, max: 0 }).map(at)),
  })
  const rules: readonly ((each: Past, atMs: Ms) => Timed<unknown>)[] = [
    historyCap,
    temporalLimit,
    (each, atMs) =>
      lastTradeCap({ lastTradeMs: null, trackedSinceMs: READ_MS, past: each }, DEFAULT_POLICY, atMs),
  ]
  fc.assert(
    fc.property(over, fc.nat(8 * DAY), fc.nat(8 * DAY), (each, after, later) => {
      for (const rule of rules) {
        const { value, untilMs } = rule(past(each), at(after))
        const then = Math.min(after + later, untilMs - READ_MS - 1)
        if (then >= after) expect(rule(past(each), at(then)).value).toEqual(value)
      }
    }),
    { numRuns: cases(300) },
  )
})
