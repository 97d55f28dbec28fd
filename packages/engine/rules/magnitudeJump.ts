/**
 * MAGNITUDE_JUMP (R-jump-1, R-jump-2): a marginal price more than 100 times away from the last accepted one is
 * not believed until it has held for half an hour.
 *
 * Whether a jump has held is a matter of time alone: a read at a later time gives the same answer as an
 * observation made then, and neither needs a timer to have fired.
 */
import { apart, times } from '../exact/apart.ts'
import type { Fraction } from '../exact/fraction.ts'
import { type Ms, ms } from '../units.ts'
import { FOREVER, type Timed } from './timed.ts'
import type { Policy } from '../policy/policy.ts'

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
  const far = times(BigInt(policy.jump.ratio))
  const jump = isJumping(state, timeMs, policy).value ? state.jump : null
  const accepted = jump === null && state.jump !== null ? state.jump.latest : state.accepted

  if (apart(ratio, accepted, far) <= 0) return { accepted: ratio, jump: null }
  if (jump !== null && apart(ratio, jump.ratio, far) <= 0)
    return { accepted, jump: { ratio: jump.ratio, latest: ratio, sinceMs: jump.sinceMs } }
  return { accepted, jump: { ratio, latest: ratio, sinceMs: timeMs } }
}

/** Whether a jump has not yet held for `hold_ms`, and when it will have if nothing is observed before. */
export function isJumping({ jump }: JumpState, atMs: Ms, policy: Policy): Timed<boolean> {
  const endsMs = jump === null ? atMs : ms(jump.sinceMs + policy.jump.hold_ms)
  return atMs < endsMs ? { value: true, untilMs: endsMs } : { value: false, untilMs: FOREVER }
}
