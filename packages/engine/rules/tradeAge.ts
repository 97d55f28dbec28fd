/** NO_RECENT_TRADE: the longer nobody has traded at a price, the less it is trusted. */
import type { Policy } from '../policy/policy.ts'
import { type Ms, ms } from '../units.ts'
import type { Cap } from './reasons.ts'
import { FOREVER, type Timed } from './timed.ts'

/**
 * An age on a bound is not past it. While no trade is known, the cap is that of an unknown trade; revision 1 assumed
 * a trade at the moment the pool was found.
 */
export function tradeAgeCap(
  lastTradeMs: Ms | null,
  trackedSinceMs: Ms,
  policy: Policy,
  atMs: Ms,
): Timed<Cap | null> {
  if (lastTradeMs === null && policy.revision > 1)
    return { value: { code: 'NO_RECENT_TRADE', cap: policy.trade.unknown_cap }, untilMs: FOREVER }
  const quietSinceMs = lastTradeMs ?? trackedSinceMs
  let value: Cap | null = null
  for (const { over_ms, cap } of policy.trade_age_caps) {
    const lastMs = quietSinceMs + over_ms
    if (atMs <= lastMs) return { value, untilMs: ms(lastMs + 1) }
    value = { code: 'NO_RECENT_TRADE', cap }
  }
  return { value, untilMs: FOREVER }
}
