/**
 * The interface between the local world and a pool family: its factory, a pool of the plan with liquidity in it, its
 * price, and the trades that move the price or withdraw liquidity. Each family has one implementation; traders and
 * incidents act the same on all of them.
 */
import type { Address, Hex } from 'viem'
import type { Client } from '../../client.ts'
import type { V4PoolKey } from '../../trader.ts'
import type { DeploymentPlan, PoolPlan, TokenPlan } from '../plan.ts'

export type Band = { readonly lower: number; readonly upper: number }

export type WorldPool = {
  /** For a pool kept by a manager, its id. */
  readonly address: Hex
  readonly family: DeploymentPlan['family']
  readonly deployment: string
  readonly token0: TokenPlan
  readonly token1: TokenPlan
  /** For a pool with ticks, the bands in which the trader holds liquidity. */
  readonly bands: readonly Band[]
  /** For a pool kept by a manager. */
  readonly kept?: { readonly manager: Address; readonly key: V4PoolKey }
}

export type PoolPrice =
  | { readonly kind: 'reserves'; readonly reserve0: bigint; readonly reserve1: bigint }
  | { readonly kind: 'slot'; readonly sqrtPriceX96: bigint; readonly tick: number }

/** A pool to create: by whom, where, and of which tokens in the order of their addresses. */
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
  /**
   * The trade that brings a pool to a price, `share` of the way for families whose trades take only amounts; null for
   * none.
   */
  moveTo(pool: WorldPool, from: PoolPrice, target: number, share?: number): Hex | null
  /** Trades to a price and back to `from`. */
  thereAndBack(pool: WorldPool, from: PoolPrice, target: number): readonly Hex[]
  /** Sells this much of either token. */
  sell(pool: WorldPool, isToken0: boolean, amount: bigint): Hex
  /** Takes out a share of all liquidity, in ten-thousandths. */
  pull(client: Client, trader: Address, pool: WorldPool, tenThousandths: bigint): Promise<readonly Hex[]>
  /** Moves all liquidity above the price; null for families whose liquidity cannot be on one side. */
  readonly moveAside: ((client: Client, trader: Address, pool: WorldPool) => Promise<readonly Hex[]>) | null
  /**
   * The least price difference worth a trade, the difference beyond which nothing is left to trade with, and the
   * share of the way a trade goes.
   */
  readonly trading: { readonly worthIt: number; readonly outOfReach: number; readonly share: number }
  /** The keys of a deployment that only this family has in the configuration. */
  config(deployment: DeploymentPlan): Readonly<Record<string, unknown>>
}
