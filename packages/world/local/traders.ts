/**
 * Traders that keep a chain alive: each token has a fair price that wanders, and trades bring its pools towards it,
 * so prices move and stay arbitraged. Seeded: the same seed trades the same way.
 */
import type { Address, Hex } from 'viem'
import type { Client } from '../client.ts'
import { v2PairAbi, v3PoolAbi } from '../contracts/abi.ts'
import type { Random } from '../random.ts'
import * as trader from '../trader.ts'
import type { ChainPlan, TokenPlan } from './plan.ts'
import type { SeededChain, WorldPool } from './seeding.ts'
import { sqrtPriceX96 } from './valuation.ts'

const GAS = 25_000_000n
/** How far a fair price wanders in one round, and how far it may stray from the plan. */
const STEP = 0.0015
const STRAY = 0.2
/** A trader does not bother with less than this. */
const WORTH_IT = 0.0008
const V2_FEE = { numerator: 997n, denominator: 1000n }
const EVERYTHING = 1n << 200n

export class Traders {
  readonly #client: Client
  readonly #chain: SeededChain
  readonly #random: Random
  readonly #fair: Map<string, number>
  readonly #plan: ChainPlan

  constructor(client: Client, plan: ChainPlan, chain: SeededChain, random: Random) {
    this.#client = client
    this.#plan = plan
    this.#chain = chain
    this.#random = random
    this.#fair = new Map(plan.tokens.map(token => [token.symbol, token.usd]))
  }

  /** One round: fair prices wander, then a few pools are traded towards them in one transaction. */
  async round(): Promise<void> {
    for (const token of this.#plan.tokens) if (token.role !== 'STABLE') this.#wander(token)
    const calls: Hex[] = []
    for (const pool of this.#chain.pools) {
      const isAnchor = pool.token0.role !== 'TOKEN' && pool.token1.role !== 'TOKEN'
      if (this.#random.integer(1, 100) > (isAnchor ? 50 : 30)) continue
      const call = await this.#towardsFair(pool)
      if (call !== null) calls.push(call)
    }
    if (calls.length > 0) await trader.batch(this.#client, this.#chain.trader, calls, GAS)
  }

  #wander(token: TokenPlan): void {
    const drawn = (this.#random.integer(0, 2000) - 1000) / 1000
    const next = (this.#fair.get(token.symbol) as number) * (1 + drawn * STEP)
    this.#fair.set(token.symbol, Math.min(Math.max(next, token.usd * (1 - STRAY)), token.usd * (1 + STRAY)))
  }

  async #towardsFair(pool: WorldPool): Promise<Hex | null> {
    const fair =
      ((this.#fair.get(pool.token0.symbol) as number) / (this.#fair.get(pool.token1.symbol) as number)) *
      10 ** (pool.token1.decimals - pool.token0.decimals)
    return pool.family === 'amm_v3' ? this.#moveV3(pool.address, fair) : this.#moveV2(pool.address, fair)
  }

  /** A v3 swap stops where it is told to: the fair price is its limit. */
  async #moveV3(pool: Address, fair: number): Promise<Hex | null> {
    const [current] = await this.#client.readContract({
      address: pool,
      abi: v3PoolAbi,
      functionName: 'slot0',
    })
    const target = sqrtPriceX96(fair)
    const move = Math.abs(Number(target) / Number(current) - 1) * 2
    if (move < WORTH_IT || move > 0.5) return null
    return trader.swapV3(pool, target < current, EVERYTHING, target)
  }

  /** x·y = k: to reach the price p, the reserve of token0 becomes √(k/p). */
  async #moveV2(pair: Address, fair: number): Promise<Hex | null> {
    const [reserve0, reserve1] = await this.#client.readContract({
      address: pair,
      abi: v2PairAbi,
      functionName: 'getReserves',
    })
    const [x, y] = [Number(reserve0), Number(reserve1)]
    if (x === 0 || y === 0) return null
    const move = y / x / fair - 1
    if (Math.abs(move) < WORTH_IT + 0.003) return null
    const isSale = move > 0
    const amount = isSale ? Math.sqrt((x * y) / fair) - x : Math.sqrt(x * y * fair) - y
    // The fee keeps a trader short of the fair price by about as much as it costs.
    const amountIn = BigInt(Math.floor(Math.max(0, amount * 0.7)))
    return amountIn === 0n ? null : trader.swapExactInV2(pair, isSale, amountIn, V2_FEE)
  }
}
