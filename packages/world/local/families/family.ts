/**
 * What the local world asks of a pool family: its factory, a pool of the plan with liquidity in it, its price, and the trades
 * that bring it elsewhere or take its liquidity. One implementation a family; what traders and incidents do is the same for all.
 */
import type { Address, Hex } from 'viem'
import type { Client } from '../../client.ts'
import type { V4PoolKey } from '../../trader.ts'
import type { DeploymentPlan, PoolPlan, TokenPlan } from '../plan.ts'

export type Band = { readonly lower: number; readonly upper: number }

export type WorldPool = {
  /** Of a pool that a manager keeps: its id. */
  readonly address: Hex
  readonly family: DeploymentPlan['family']
  readonly deployment: string
  readonly token0: TokenPlan
  readonly token1: TokenPlan
  /** Of a pool with ticks: the bands the trader holds liquidity in. */
  readonly bands: readonly Band[]
  /** Of a pool that a manager keeps. */
  readonly kept?: { readonly manager: Address; readonly key: V4PoolKey }
}

export type PoolPrice =
  | { readonly kind: 'reserves'; readonly reserve0: bigint; readonly reserve1: bigint }
  | { readonly kind: 'slot'; readonly sqrtPriceX96: bigint; readonly tick: number }

/** A pool that is to be made: by whom, where, of which tokens in the order of their addresses. */
export type Order = {
  readonly client: Client
  readonly deployment: DeploymentPlan
  readonly pool: PoolPlan
  readonly tokens: readonly [TokenPlan, TokenPlan]
  readonly trader: Address
  readonly gas: bigint
}

export interface WorldFamily {
  deploy(client: Client, deployment: DeploymentPlan, chainId: number): Promise<void>
  make(order: Order): Promise<WorldPool>
  readPrice(client: Client, pool: WorldPool): Promise<PoolPrice>
  /** The trade that brings a pool to a price, `share` of the way where a trade knows an amount alone; null for none. */
  moveTo(pool: WorldPool, from: PoolPrice, target: number, share?: number): Hex | null
  /** Trades to a price and back to `from`. */
  thereAndBack(pool: WorldPool, from: PoolPrice, target: number): readonly Hex[]
  /** Sells this much of either token. */
  sell(pool: WorldPool, isToken0: boolean, amount: bigint): Hex
  /** Takes out a share of all liquidity, in ten-thousandths. */
  pull(client: Client, trader: Address, pool: WorldPool, tenThousandths: bigint): Promise<readonly Hex[]>
  /** Moves all liquidity above the price; null where it cannot be on one side. */
  readonly moveAside: ((client: Client, trader: Address, pool: WorldPool) => Promise<readonly Hex[]>) | null
  /** How far off a pool must be for a trader to bother, beyond what there is nothing left to trade with, and how much of the way it goes. */
  readonly trading: { readonly worthIt: number; readonly outOfReach: number; readonly share: number }
  /** The keys of a deployment that only this family has in the configuration. */
  config(deployment: DeploymentPlan): Readonly<Record<string, unknown>>
}
