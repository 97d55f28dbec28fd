import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { type Ms, ms, tick } from '../units.ts'
import { isJumping, type JumpState, observe, scaled, start } from './magnitudeJump.ts'
import { FOREVER } from './timed.ts'
import { DEFAULT_POLICY } from '../policy/policy.ts'

const T = ms(1_700_000_000_000)
const HOLD = 1_800_000
const whole = (num: bigint) => ({ num, den: 1n })
const at = (offset: bigint): Ms => ms(T + Number(offset))

/** The marginal was `num` at T + offset, in turn. */
const seen = (first: bigint, ...moves: readonly (readonly [bigint, bigint])[]): JumpState =>
  moves.reduce(
    (state, [num, offset]) => observe(state, whole(num), at(offset), DEFAULT_POLICY),
    start(whole(first)),
  )

const jumping = (state: JumpState, atMs: Ms): boolean => isJumping(state, atMs, DEFAULT_POLICY).value
/** When a jump seen at T is accepted, if nothing else is seen. */
const endsAt = (state: JumpState): Ms => isJumping(state, T, DEFAULT_POLICY).untilMs

describe('MAGNITUDE_JUMP', () => {
  it('R-jump-1: a marginal more than 100× from the last accepted is a jump, 100× is not', () => {
    expect(seen(1n, [100n, 0n])).toEqual({ accepted: whole(100n), jump: null })
    expect(seen(100n, [1n, 0n])).toEqual({ accepted: whole(1n), jump: null })
    expect(jumping(seen(1n, [101n, 0n]), T)).toBe(true)
    expect(jumping(seen(101n, [1n, 0n]), T)).toBe(true)
    expect(seen(1n, [101n, 0n]).accepted).toEqual(whole(1n))
  })

  it('R-jump-1: an unchanged amount in units jumps with its decimals, from when they came into use', () => {
    const before = start(whole(7n), tick(12))
    const scaling = { digits: tick(0), sinceMs: T, before: null }
    const state = scaled(before, scaling, DEFAULT_POLICY)
    expect([jumping(state, T), endsAt(state)]).toEqual([true, T + HOLD])
    expect(scaled(state, scaling, DEFAULT_POLICY)).toBe(state)
    // Seen then or read later: the same.
    const seenThen = observe(state, whole(8n), at(60_000n), DEFAULT_POLICY)
    expect(endsAt(seenThen)).toBe(T + HOLD)
    // Within 100×, unknown, or first known: none.
    for (const [from, to] of [
      [tick(12), tick(11)],
      [tick(12), null],
      [null, tick(12)],
    ] as const)
      expect(
        jumping(scaled(start(whole(7n), from), { digits: to, sinceMs: T, before: null }, DEFAULT_POLICY), T),
      ).toBe(false)
    // Back again within the hold: it never was.
    expect(
      jumping(scaled(state, { digits: tick(12), sinceMs: at(9n), before: null }, DEFAULT_POLICY), at(9n)),
    ).toBe(false)
  })

  it('R-jump-2: the cap holds until the jump has held 30 min, with no observation needed', () => {
    const state = seen(1n, [5_000n, 0n])
    expect(endsAt(state)).toBe(T + HOLD)
    expect(jumping(state, at(BigInt(HOLD) - 1n))).toBe(true)
    expect(jumping(state, at(BigInt(HOLD)))).toBe(false)
  })

  it('a move near the jump neither ends nor restarts it, and the latest is the accepted one', () => {
    const state = seen(1n, [5_000n, 0n], [90_000n, 600_000n])
    expect(endsAt(state)).toBe(T + HOLD)
    const settled = observe(state, whole(8_000_000n), at(BigInt(HOLD)), DEFAULT_POLICY)
    expect(settled).toEqual({ accepted: whole(8_000_000n), jump: null })
  })

  it('a move more than 100× from the jump starts another', () => {
    const state = seen(1n, [5_000n, 0n], [500_001n, 600_000n])
    expect(endsAt(state)).toBe(T + 600_000 + HOLD)
    expect(state.accepted).toEqual(whole(1n))
  })

  it('a return to within 100× of the last accepted clears it', () => {
    const state = seen(1n, [5_000n, 0n], [100n, 600_000n])
    expect(state).toEqual({ accepted: whole(100n), jump: null })
    expect(endsAt(state)).toBe(FOREVER)
  })

  it('after the hold the old price is itself a jump', () => {
    const state = seen(1n, [5_000n, 0n], [1n, 1_800_000n])
    expect(state.accepted).toEqual(whole(5_000n))
    expect(jumping(state, at(1_800_000n))).toBe(true)
  })

  it('a read and an observation of the same ratio at that time agree, whenever they are made', () => {
    const moves = fc.array(fc.tuple(fc.bigInt(0n, 12n), fc.bigInt(0n, 1_200_000n)), { maxLength: 8 })
    fc.assert(
      fc.property(moves, fc.bigInt(0n, 4_000_000n), (steps, later) => {
        let time = 0n
        let current = whole(1n)
        let state = start(current)
        for (const [exponent, gap] of steps) {
          time += gap
          current = whole(10n ** exponent)
          state = observe(state, current, at(time), DEFAULT_POLICY)
        }
        const read = isJumping(state, at(time + later), DEFAULT_POLICY)
        const observed = observe(state, current, at(time + later), DEFAULT_POLICY)
        expect(isJumping(observed, at(time + later), DEFAULT_POLICY)).toEqual(read)
      }),
      { numRuns: cases(2000) },
    )
  })
})
