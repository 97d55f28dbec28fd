/** Functions shared by incidents: finding a suitable token and its pools, and acting on them in one block. */
import type { Hex } from 'viem'
import type { WorldChain } from '../local/localWorld.ts'
import { type TokenPlan, tokenOf } from '../local/plan.ts'
import { moveTo, readPrice, toNumber } from '../local/poolMove.ts'
import type { WorldPool } from '../local/families/family.ts'
import { familyOf } from '../local/families/table.ts'
import * as trader from '../trader.ts'
import type { Aim } from './incident.ts'

const GAS = 25_000_000n

/** The pools of a token, deepest first as in the plan. */
export function poolsOf({ seeded }: WorldChain, symbol: string): WorldPool[] {
  return seeded.pools.filter(pool => pool.token0.symbol === symbol || pool.token1.symbol === symbol)
}

/** The requested token, or the first suitable one of the chain; `wanted` ends the sentence "a token with". */
export function tokenFor(
  chain: WorldChain,
  aim: Aim,
  wanted: string,
  suits: (token: TokenPlan, pools: readonly WorldPool[]) => boolean,
): TokenPlan {
  const { plan } = chain
  const isFit = (token: TokenPlan) => token.role === 'TOKEN' && suits(token, poolsOf(chain, token.symbol))
  const fitting = plan.tokens.filter(isFit)
  const chosen = aim.token === undefined ? fitting[0] : tokenOf(plan, aim.token)
  if (chosen !== undefined && isFit(chosen)) return chosen
  const others = fitting.map(({ symbol }) => symbol).join(', ')
  throw new Error(
    `chain ${plan.chainId}: this needs a token with ${wanted}; ${aim.token ?? 'none'} is not one` +
      (others === '' ? ', and the chain has none: try another chain' : `, but ${others}`),
  )
}

/** The requested stable, or the chain's first. */
export function stableFor({ plan }: WorldChain, aim: Aim): TokenPlan {
  const stables = plan.tokens.filter(({ role }) => role === 'STABLE')
  const chosen = aim.token === undefined ? stables[0] : tokenOf(plan, aim.token)
  if (chosen?.role === 'STABLE') return chosen
  const symbols = stables.map(({ symbol }) => symbol).join(', ')
  throw new Error(`chain ${plan.chainId}: this needs a stable; expected ${symbols}, received ${aim.token}`)
}

/** All calls in one transaction; every one must succeed. */
export async function inOneBlock(chain: WorldChain, calls: readonly Hex[]): Promise<void> {
  const outcomes = await trader.batch(chain.client, chain.seeded.trader, calls, GAS)
  for (const outcome of outcomes)
    if (!outcome.ok) throw new Error(`chain ${chain.plan.chainId} refused a trade: ${outcome.reason}`)
}

/** Trades that multiply the price of a token in a pool by `factor`. */
export async function push(
  chain: WorldChain,
  pool: WorldPool,
  symbol: string,
  factor: number,
): Promise<Hex[]> {
  const before = await readPrice(chain.client, pool)
  const price = toNumber(before)
  if (price === null) throw new Error(`pool ${pool.address} of ${symbol} is empty`)
  const target = pool.token0.symbol === symbol ? price * factor : price / factor
  const call = moveTo(pool, before, target)
  return call === null ? [] : [call]
}

/** Trades that bring a pool to the traders' fair price. */
export async function settle(chain: WorldChain, pool: WorldPool): Promise<Hex[]> {
  const call = moveTo(pool, await readPrice(chain.client, pool), chain.traders.fairPrice(pool))
  return call === null ? [] : [call]
}

/** Withdraws a share of all liquidity of a pool, in ten-thousandths. */
export const pull = (
  { client, seeded }: WorldChain,
  pool: WorldPool,
  tenThousandths: bigint,
): Promise<readonly Hex[]> => familyOf(pool).pull(client, seeded.trader, pool, tenThousandths)
