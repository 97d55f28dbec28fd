/** Whether a swap is a trade that renews a pool's last one (R-trade-2): one of a useful size, which costs its fee to fake. */
import type { Fraction } from '../exact/fraction.ts'
import type { Policy } from '../policy/policy.ts'

const MICRO = 1_000_000n

/** What went in or out of the pool, net and without sign, in units. */
export type Traded = { readonly x: bigint; readonly y: bigint }

/** `reference` is the reference input of the pool, `unitMicrousd` what a unit of Y is worth; null where it is not known. */
export const isTrade = (
  { x, y }: Traded,
  reference: bigint,
  unitMicrousd: Fraction | null,
  { trade }: Policy,
): boolean =>
  x >= reference &&
  unitMicrousd !== null &&
  y * unitMicrousd.num >= BigInt(trade.min_usd) * MICRO * unitMicrousd.den
