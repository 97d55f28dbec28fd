import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { count, type Ms, ms } from '../units.ts'
import { DEFAULT_POLICY } from '../policy/policy.ts'
import type { Answer } from './feedAnswer.ts'
import { guardStable, type StableReading, type StableVerdict } from './stableGuard.ts'
import { FOREVER } from './timed.ts'

const T = ms(1_700_000_000_000)
const HEARTBEAT = ms(86_400_000)
const GRACE = ms(1_800_000)
const HOUR = 3_600_000

/** 1 USD off by `bps`, with eight decimals, made at T. */
const worth = (bps: bigint, updatedAtMs = T): Answer => ({
  value: 100_000_000n + bps * 10_000n,
  decimals: count(8),
  updatedAtMs,
})
const complete = (answer: Answer) => ({ ...answer, complete: true })

const healthy: StableReading = {
  answer: complete(worth(0n)),
  last: worth(0n),
  feed: { heartbeatMs: HEARTBEAT, graceMs: GRACE },
  sequencer: null,
}
/** The verdict, and until when it holds. */
const guard = (changes: Partial<StableReading>, ageMs = ms(0)): StableVerdict & { untilMs: Ms } => {
  const { value, untilMs } = guardStable({ ...healthy, ...changes }, DEFAULT_POLICY, ms(T + ageMs))
  return { ...value, untilMs }
}
const codes = (found: StableVerdict) => found.caps.map(({ code, cap }) => `${code} ${cap}`)

/** Nothing read now; the last good answer was off by `bps`. */
const stale = (bps: bigint) => guard({ answer: null, last: worth(bps) })

/** An answer off by `bps`, too old to be used. */
const forgotten = (bps: bigint, feed = healthy.feed) =>
  guard({ answer: complete(worth(bps)), last: worth(bps), feed }, ms(FORGOTTEN + 1))

const LATE = ms(HEARTBEAT + GRACE)
const FORGOTTEN = ms(2 * HEARTBEAT + GRACE)

describe('stable guard', () => {
  it('R-stable-1: U_S is the chain-local Chainlink answer, exact', () => {
    expect(guard({ answer: complete(worth(3n)) })).toEqual({
      usd: { num: 100_030_000n, den: 100_000_000n },
      score: 10,
      status: 'OK',
      source: 'CHAINLINK',
      caps: [],
      deviationBps: { num: 300_000_000n, den: 100_000_000n },
      updatedAtMs: T,
      untilMs: T + LATE + 1,
    })
  })

  it('R-stable-2: |U−1| ≤ 50 bps gives 10; ≤ 200 caps at 6 STABLE_DEPEG; ≤ 500 at 3; beyond 0 STABLE_SUSPENDED', () => {
    for (const sign of [1n, -1n]) {
      const at = (bps: bigint, more = 0n) => {
        const answer = complete(worth(sign * bps))
        return guard({ answer: { ...answer, value: answer.value + sign * more } })
      }
      expect(at(50n)).toMatchObject({ score: 10, status: 'OK', caps: [] })
      expect(at(50n, 1n)).toMatchObject({
        score: 6,
        status: 'DEPEG',
        caps: [{ code: 'STABLE_DEPEG', cap: 6 }],
      })
      expect(at(200n)).toMatchObject({ score: 6, status: 'DEPEG' })
      expect(at(200n, 1n)).toMatchObject({
        score: 3,
        status: 'DEPEG',
        caps: [{ code: 'STABLE_DEPEG', cap: 3 }],
      })
      expect(at(500n)).toMatchObject({ score: 3, status: 'DEPEG' })
      expect(at(500n, 1n)).toMatchObject({
        score: 0,
        status: 'SUSPENDED',
        source: 'CHAINLINK',
        caps: [{ code: 'STABLE_SUSPENDED', cap: 0 }],
      })
    }
  })

  it('R-stable-3: older than heartbeat + grace gives the last value, cap 4 STABLE_STALE', () => {
    expect(guard({}, LATE)).toMatchObject({ status: 'OK', score: 10 })
    expect(guard({ last: null }, ms(LATE + 1))).toMatchObject({
      status: 'STALE',
      source: 'LAST',
      score: 4,
      caps: [{ code: 'STABLE_STALE', cap: 4 }],
      usd: { num: 100_000_000n, den: 100_000_000n },
    })
  })

  it('R-stable-3: an answer ≤ 0, incomplete or not read gives the last value, cap 4 STABLE_STALE', () => {
    const last = worth(20n, ms(T - 5_000))
    for (const answer of [
      { ...complete(worth(0n)), value: 0n },
      { ...complete(worth(0n)), value: -1n },
      { ...worth(0n), complete: false },
      null,
    ])
      expect(guard({ answer, last })).toMatchObject({
        status: 'STALE',
        source: 'LAST',
        score: 4,
        usd: { num: 100_200_000n, den: 100_000_000n },
        updatedAtMs: T - 5_000,
      })
  })

  it('R-stable-2: the bands of a depeg apply to the last value too', () => {
    expect([stale(120n).status, stale(120n).score, codes(stale(120n))]).toEqual([
      'STALE',
      4,
      ['STABLE_STALE 4', 'STABLE_DEPEG 6'],
    ])
    expect([stale(300n).score, codes(stale(300n))]).toEqual([3, ['STABLE_STALE 4', 'STABLE_DEPEG 3']])
    expect([stale(501n).status, stale(501n).score]).toEqual(['SUSPENDED', 0])
  })

  it('R-stable-4: older than 2 × heartbeat + grace gives nominal 1, cap 3 STABLE_NOMINAL', () => {
    expect(guard({}, FORGOTTEN).status).toBe('STALE')
    expect(guard({}, ms(FORGOTTEN + 1))).toEqual({
      usd: { num: 1n, den: 1n },
      score: 3,
      status: 'NOMINAL',
      source: 'NOMINAL',
      caps: [{ code: 'STABLE_NOMINAL', cap: 3 }],
      deviationBps: { num: 0n, den: 1n },
      updatedAtMs: null,
      untilMs: FOREVER,
    })
  })

  it('R-stable-4: no feed, or no answer ever, gives nominal 1, cap 3', () => {
    expect(guard({ answer: null, last: null, feed: null })).toMatchObject({ status: 'NOMINAL', score: 3 })
    expect(guard({ answer: null, last: null })).toMatchObject({ status: 'NOMINAL', score: 3 })
  })

  it('R-stable-5: never nominal after a last value beyond 200 bps: then suspended', () => {
    expect(forgotten(200n).status).toBe('NOMINAL')
    expect(forgotten(-200n).status).toBe('NOMINAL')
    for (const found of [forgotten(201n), forgotten(-201n), forgotten(-201n, null)])
      expect([found.status, found.score, found.source, codes(found)]).toEqual([
        'SUSPENDED',
        0,
        'LAST',
        ['STABLE_STALE 4', 'STABLE_SUSPENDED 0'],
      ])
  })

  it('R-stable-6: sequencer down or within 3600 s of its start gives STABLE_STALE', () => {
    const sequencer = (up: boolean, ago: Ms) => guard({ sequencer: { up, sinceMs: ms(T - ago) } })
    expect(sequencer(false, ms(10 * HOUR))).toMatchObject({
      status: 'STALE',
      score: 4,
      untilMs: T + LATE + HEARTBEAT + 1,
    })
    expect(sequencer(true, ms(HOUR))).toMatchObject({
      status: 'STALE',
      source: 'LAST',
      untilMs: T + 1,
    })
    expect(sequencer(true, ms(HOUR + 1))).toMatchObject({ status: 'OK', score: 10 })
  })

  it('an answer dated ahead of the clock is new, not old', () => {
    expect(guard({ answer: complete(worth(0n, ms(T + 60_000))) }).status).toBe('OK')
  })

  it('R-stable-9: the next boundary is the first time at which time alone changes the outcome', () => {
    const answers = fc
      .tuple(fc.constantFrom(0n, 60n, 200n, 201n, -400n, 600n), fc.integer({ min: -10, max: 190_000 }))
      .map(([bps, seconds]) => worth(bps, ms(T - seconds * 1_000)))
    const readings = fc.record({
      answer: fc.option(
        fc.tuple(answers, fc.boolean()).map(([answer, isDone]) => ({ ...answer, complete: isDone })),
      ),
      last: fc.option(answers),
      feed: fc.option(fc.constant({ heartbeatMs: HEARTBEAT, graceMs: GRACE })),
      sequencer: fc.option(
        fc.record({
          up: fc.boolean(),
          sinceMs: fc.integer({ min: 0, max: 2 * HOUR }).map(ago => ms(T - ago)),
        }),
      ),
    })
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(readings, fc.array(share, { minLength: 5, maxLength: 5 }), (reading, shares) => {
        const { value: now, untilMs } = guardStable(reading, DEFAULT_POLICY, T)
        const outcome = (atMs: Ms) => guardStable(reading, DEFAULT_POLICY, atMs).value
        const end = ms(untilMs === FOREVER ? T + 20 * HEARTBEAT : untilMs - 1)
        for (const part of [...shares, 1]) expect(outcome(ms(T + Math.floor((end - T) * part)))).toEqual(now)
        if (untilMs !== FOREVER) expect(outcome(untilMs)).not.toEqual(now)
      }),
      { numRuns: cases(2000) },
    )
  })

  it('source LAST always carries STABLE_STALE, NOMINAL always STABLE_NOMINAL, and the score is the lowest cap', () => {
    const answer = fc.tuple(fc.bigInt(-700n, 700n), fc.integer({ min: 0, max: 200_000 }))
    fc.assert(
      fc.property(fc.option(answer), fc.option(answer), fc.boolean(), (given, previous, isDone) => {
        const made = (raw: typeof given) => raw && worth(raw[0], ms(T - raw[1] * 1_000))
        const current = made(given)
        const found = guard({ answer: current && { ...current, complete: isDone }, last: made(previous) })
        expect(found.source === 'LAST').toBe(codes(found).includes('STABLE_STALE 4'))
        expect(found.source === 'NOMINAL').toBe(codes(found).includes('STABLE_NOMINAL 3'))
        expect(found.score).toBe(Math.min(10, ...found.caps.map(({ cap }) => cap)))
      }),
      { numRuns: cases(2000) },
    )
  })
})
