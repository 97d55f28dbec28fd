/**
 * The real price for a seller inside a block: 1,000 USD worth of a token, over the best split of the existing pools,
 * by the exact adapters, through a routing asset where that pays more.
 *
 * The amount is cut into parts, and each part takes the best remaining route. Stables count at their fair value.
 */
import { adapterOf } from '../../packages/engine/amm/families.ts'
import type { Side } from '../../packages/engine/amm/states.ts'
import type { Address } from '../../packages/engine/chain/block.ts'
import type { Market, MarketToken } from './market.ts'
import { type Amm, type MarketPool, toUnits } from './pool.ts'

export const EXIT_USD = 1000
const PARTS = 10

/** Dollars per whole token; 0 when nothing can be sold. */
export function exitUsd(market: Market, { plan, pools }: MarketToken): number {
  const part = toUnits(EXIT_USD / PARTS / market.usd(plan.address))
  if (part === 0n) return 0
  const states = new Map<MarketPool, Amm>()
  const sell = (pool: MarketPool, side: Side, amount: bigint) => {
    const swapped = adapterOf(pool.terms.family).swapExactIn(
      pool.terms,
      states.get(pool) ?? pool.amm,
      side,
      amount,
    )
    return 'reason' in swapped ? null : swapped
  }
  /** The pool of the routing asset that pays most for a small amount. */
  const anchorFor = (asset: Address): MarketPool | null => {
    let best: MarketPool | null = null
    let most = 0
    for (const pool of market.anchors.pools) {
      if (pool.plan.token !== asset) continue
      const usd = pool.tokenUsd(market) * pool.keep
      if (usd > most) [best, most] = [pool, usd]
    }
    return best
  }
  const open = pools.filter(pool => pool.isOpen && pool.plan.bornAt !== market.block)
  let proceedsUsd = 0
  const first = new Map(open.map(pool => [pool, sell(pool, pool.tokenSide, part)]))
  for (let left = PARTS; left > 0; left--) {
    let best: { pool: MarketPool; usd: number; anchor: MarketPool | null } | null = null
    for (const pool of open) {
      const swapped = first.get(pool) ?? null
      if (swapped === null) continue
      const { quote } = pool.plan
      const anchor = quote === market.anchors.plan.address ? anchorFor(quote) : null
      const onward = anchor === null ? null : sell(anchor, anchor.tokenSide, swapped.amountOut)
      const usd =
        anchor === null
          ? Number(swapped.amountOut) * market.usd(quote)
          : Number(onward?.amountOut ?? 0n) * market.usd(anchor.plan.quote)
      if (best === null || usd > best.usd) best = { pool, usd, anchor }
    }
    if (best === null) return 0
    const { pool, anchor } = best
    const swapped = first.get(pool) as NonNullable<ReturnType<typeof sell>>
    if (anchor !== null) {
      const onward = sell(anchor, anchor.tokenSide, swapped.amountOut)
      if (onward !== null) states.set(anchor, onward.state)
    }
    states.set(pool, swapped.state)
    first.set(pool, sell(pool, pool.tokenSide, part))
    proceedsUsd += best.usd
  }
  return proceedsUsd / (Number(part * BigInt(PARTS)) / 10 ** market.decimalsOf(plan.address))
}
