/**
 * MAGNITUDE_JUMP (R-jump-1, R-jump-2): a marginal price in whole tokens more than 100 times away from the last
 * accepted one is accepted only after it has held for half an hour. A change of decimals can cause such a jump.
 *
 * Whether a jump has held depends on time alone: a read at a later time gives the same answer as an observation made
 * then, and neither needs a timer to have fired.
 */
import { apart, times as factorOf } from '../exact/apart.ts'
import { type Fraction, times } from '../exact/fraction.ts'
import { type Ms, ms, type Tick } from '../units.ts'
import { FOREVER, type Timed } from './timed.ts'
import type { Policy } from '../policy/policy.ts'

/** Ratios are in units; `digits` converts them to whole tokens. */
export type JumpState = {
  readonly accepted: Fraction
  readonly jump: Jump | null
  /** Decimals of X minus those of Y; absent while unknown. */
  readonly digits?: Digits | null
}

export type Digits = Tick

/** The decimals in use, and when the later of the two came into use. */
export type Scaling = {
  readonly digits: Digits | null
  readonly sinceMs: Ms
  /** The previous decimals; null when they never changed. */
  readonly before: Digits | null
}

/** `ratio` opened the jump and must stay close to it; `latest` is accepted once the jump has held. */
export type Jump = { readonly ratio: Fraction; readonly latest: Fraction; readonly sinceMs: Ms }

export function start(ratio: Fraction, digits: Digits | null = null): JumpState {
  return withDigits({ accepted: ratio, jump: null }, digits)
}

const withDigits = (state: JumpState, digits: Digits | null | undefined): JumpState =>
  digits === null || digits === undefined ? state : { ...state, digits }

/**
 * The same state in these decimals. A ratio that does not change in units is a different one in whole tokens from the
 * moment its decimals came into use, and counts as a jump like any other.
 */
export function scaled(
  state: JumpState,
  { digits, sinceMs, before: others }: Scaling,
  policy: Policy,
): JumpState {
  if (policy.revision === 1) return state
  // Observed while its decimals were unknown: use those before the first change.
  const known = state.digits ?? others
  if (digits === null || digits === known) return state
  if (known === null) return { ...state, digits }
  const factor = powerBetween(known, digits)
  const { accepted, jump } = state
  const before: JumpState = {
    accepted: times(accepted, factor),
    jump: jump && { ...jump, ratio: times(jump.ratio, factor), latest: times(jump.latest, factor) },
    digits,
  }
  return observe(before, jump?.latest ?? accepted, sinceMs, policy)
}

/** 10^(from − to). */
function powerBetween(from: Digits, to: Digits): Fraction {
  const power = 10n ** BigInt(Math.abs(from - to))
  return from > to ? { num: power, den: 1n } : { num: 1n, den: power }
}

/** The pool's block-final marginal became `ratio` at block time `timeMs`. */
export function observe(state: JumpState, ratio: Fraction, timeMs: Ms, policy: Policy): JumpState {
  return withDigits(observed(state, ratio, timeMs, policy), state.digits)
}

function observed(state: JumpState, ratio: Fraction, timeMs: Ms, policy: Policy): JumpState {
  const far = factorOf(BigInt(policy.jump.ratio))
  const jump = isJumping(state, timeMs, policy).value ? state.jump : null
  const accepted = jump === null && state.jump !== null ? state.jump.latest : state.accepted

  if (apart(ratio, accepted, far) <= 0) return { accepted: ratio, jump: null }
  if (jump !== null && apart(ratio, jump.ratio, far) <= 0)
    return { accepted, jump: { ratio: jump.ratio, latest: ratio, sinceMs: jump.sinceMs } }
  return { accepted, jump: { ratio, latest: ratio, sinceMs: timeMs } }
}

/** Whether a jump has not yet held for `hold_ms`, and when it will have if there is no observation before then. */
export function isJumping({ jump }: JumpState, atMs: Ms, policy: Policy): Timed<boolean> {
  const endsMs = jump === null ? atMs : ms(jump.sinceMs + policy.jump.hold_ms)
  return atMs < endsMs ? { value: true, untilMs: endsMs } : { value: false, untilMs: FOREVER }
}
