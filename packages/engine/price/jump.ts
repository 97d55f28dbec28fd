/**
 * MAGNITUDE_JUMP (R-jump-1, R-jump-2): a marginal price more than 100 times away from the last accepted one is
 * not believed until it has held for half an hour.
 *
 * Whether a jump has held is a matter of time alone: a read at a later time gives the same answer as an
 * observation made then, and neither needs a timer to have fired.
 */
import type { Fraction } from '../exact/ratio.ts'
import { type Ms, ms } from '../units.ts'
import type { Policy } from './policy.ts'

export type JumpState = {
  readonly accepted: Fraction
  readonly jump: Jump | null
}

/** `ratio` opened it and is what it must stay near; `latest` is what is accepted once it has held. */
export type Jump = { readonly ratio: Fraction; readonly latest: Fraction; readonly sinceMs: Ms }

export function start(ratio: Fraction): JumpState {
  return { accepted: ratio, jump: null }
}

/** The pool's block-final marginal became `ratio` at block time `timeMs`. */
export function observe(state: JumpState, ratio: Fraction, timeMs: Ms, policy: Policy): JumpState {
  const times = BigInt(policy.jump.ratio)
  const jump = isJumping(state, timeMs, policy) ? state.jump : null
  const accepted = jump === null && state.jump !== null ? state.jump.latest : state.accepted

  if (isWithin(ratio, accepted, times)) return { accepted: ratio, jump: null }
  if (jump !== null && isWithin(ratio, jump.ratio, times))
    return { accepted, jump: { ratio: jump.ratio, latest: ratio, sinceMs: jump.sinceMs } }
  return { accepted, jump: { ratio, latest: ratio, sinceMs: timeMs } }
}

/** True while a jump has not yet held for `hold_ms`. */
export function isJumping(state: JumpState, atMs: Ms, policy: Policy): boolean {
  const endsMs = jumpEndsAt(state, policy)
  return endsMs !== null && atMs < endsMs
}

/** When a pending jump is accepted if nothing is observed before; null without one. */
export function jumpEndsAt(state: JumpState, policy: Policy): Ms | null {
  return state.jump === null ? null : ms(state.jump.sinceMs + policy.jump.hold_ms)
}

/** a/b and b/a are both at most `times`. */
function isWithin(a: Fraction, b: Fraction, times: bigint): boolean {
  const left = a.num * b.den
  const right = a.den * b.num
  return left <= times * right && right <= times * left
}
