/**
 * Whether a swap is a trade that renews a pool's last trade (R-trade-2): one of a useful size, whose fee makes it
 * costly to fake.
 */
import type { Fraction } from '../exact/fraction.ts'
import type { Policy } from '../policy/policy.ts'
import { MICRO } from '../units.ts'

/** The net amounts in or out of the pool, unsigned, in units. */
export type Traded = { readonly x: bigint; readonly y: bigint }

/** `reference` is the reference input of the pool, `unitMicrousd` the value of one unit of Y; null when unknown. */
export const isTrade = (
  { x, y }: Traded,
  reference: bigint,
  unitMicrousd: Fraction | null,
  { trade }: Policy,
): boolean =>
  x >= reference &&
  unitMicrousd !== null &&
  y * unitMicrousd.num >= BigInt(trade.min_usd) * MICRO * unitMicrousd.den
