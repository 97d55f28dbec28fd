/**
 * What time alone changes about a pool whose state does not change: how steady its price is, and the caps that start
 * or end with time.
 */
import { isPair } from '../../amm/pair.ts'
import { nextFlip, reference } from '../../memory/tapeMedian.ts'
import type { Policy } from '../../policy/policy.ts'
import { backingCap } from '../../rules/backing.ts'
import { historyCap, lastTradeCap, temporalLimit } from '../../rules/history.ts'
import { isJumping, type Scaling, scaled } from '../../rules/magnitudeJump.ts'
import type { Cap } from '../../rules/reasons.ts'
import { temporalScore } from '../../rules/temporalMedian.ts'
import { earlier, FOREVER, type Timed } from '../../rules/timed.ts'
import type { PoolState, Outlook } from '../../entities.ts'
import { type Ms, type Score, score } from '../../units.ts'

export function outlookOf(state: PoolState, scaling: Scaling, policy: Policy, atMs: Ms): Timed<Outlook> {
  const temporal = temporalAt(state, atMs)
  const caps: Cap[] = []
  if (!temporal.isCovered) caps.push({ code: 'INSUFFICIENT_HISTORY', cap: temporal.value })
  const unknown = historyCap(state.past, atMs)
  if (unknown.value !== null) caps.push(unknown.value)
  const quiet = lastTradeCap(state, policy, atMs)
  if (quiet.value !== null) caps.push(quiet.value)
  const jump = state.jump === null ? null : scaled(state.jump, scaling, policy)
  const jumping = jump === null ? null : isJumping(jump, atMs, policy)
  if (jumping?.value === true) caps.push({ code: 'MAGNITUDE_JUMP', cap: policy.jump.cap })
  const unbacked = backingCap(isPair(state.amm), state.backing ?? null, policy)
  if (unbacked !== null) caps.push(unbacked)
  const limit = temporalLimit(state.past, atMs)
  const untilMs = [unknown.untilMs, quiet.untilMs, limit.untilMs, jumping?.untilMs ?? FOREVER].reduce(
    earlier,
    temporal.untilMs,
  )
  const steady = temporal.value < limit.value ? temporal.value : limit.value
  const jumpSinceMs = jump?.jump?.sinceMs ?? null
  return { value: { temporal: steady, caps, jumpSinceMs, untilMs }, untilMs }
}

function temporalAt(
  { history, marginal }: PoolState,
  atMs: Ms,
): Timed<Score> & { readonly isCovered: boolean } {
  const past = reference(history, atMs)
  const isCovered = 'median' in past
  if (marginal === null) return { value: score(0), isCovered, untilMs: FOREVER }
  const value = temporalScore(marginal, past, history.open?.approx)
  // The median only ever moves towards the present ratio, so the best score stays.
  const untilMs = isCovered && value === 10 ? FOREVER : nextFlip(history, atMs, past)
  return { value, isCovered, untilMs }
}
