/**
 * What was traded within each candle, by the rule of the 24-hour volume. A candle in whose time a pool was not followed,
 * or a swap had no price, has a reason instead of a volume; the header says which.
 */
import type { PoolRow } from '../../store/port.ts'
import type { HttpContext } from '../plumbing/context.ts'
import type { Absences } from './absences.ts'
import type { Candle } from './candlesBack.ts'
import type { Token } from './prices.ts'
import { toDouble } from './rounding.ts'
import { tradedIn, volumeOf } from './tradedPools.ts'

/** One value for each candle, in their order; null where it is not known. `pools` is null when there are too many. */
export async function volumesOf(
  context: Pick<HttpContext, 'clock' | 'config' | 'settings' | 'store'>,
  token: Token,
  pools: readonly PoolRow[] | null,
  candles: readonly Candle[],
  intervalMs: number,
  absences: Absences,
): Promise<readonly (number | null)[]> {
  const [first] = candles
  if (first === undefined) return []
  const traded = pools === null ? 'TOO_MANY_POOLS' : await tradedIn(context, token, pools, first.fromMs)
  if (typeof traded === 'string') {
    absences.note('volume', traded)
    return candles.map(() => null)
  }
  return candles.map(({ fromMs }) => {
    const volume = volumeOf(traded, fromMs, fromMs + intervalMs)
    if (typeof volume !== 'string') return toDouble(volume)
    absences.note(`${fromMs / 1000}.volume`, volume)
    return null
  })
}
