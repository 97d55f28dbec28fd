/** NO_RECENT_TRADE: a price nobody has traded at for long is believed less, the longer the less. */
import type { Policy } from '../policy/policy.ts'
import { type Ms, ms } from '../units.ts'
import type { Cap } from './reasons.ts'
import { FOREVER, type Timed } from './timed.ts'

/** `quietSinceMs` is the last trade, or since when the pool is followed. An age on a bound is not past it. */
export function tradeAgeCap(quietSinceMs: Ms, policy: Policy, atMs: Ms): Timed<Cap | null> {
  let value: Cap | null = null
  for (const { over_ms, cap } of policy.trade_age_caps) {
    const lastMs = quietSinceMs + over_ms
    if (atMs <= lastMs) return { value, untilMs: ms(lastMs + 1) }
    value = { code: 'NO_RECENT_TRADE', cap }
  }
  return { value, untilMs: FOREVER }
}
