/**
 * Traders that keep a chain alive: each token has a fair price that wanders, and trades bring its pools towards it,
 * so prices move and stay arbitraged. Seeded: the same seed gives the same trades.
 */
import type { Address, Hex } from 'viem'
import { type Client, send } from '../client.ts'
import { sendDeposit } from '../deposit.ts'
import type { Random } from '../random.ts'
import * as trader from '../trader.ts'
import type { ChainPlan, TokenPlan } from './plan.ts'
import type { PoolPrice, WorldPool } from './families/family.ts'
import { familyOf } from './families/table.ts'
import { moveTo, readPrice, toNumber } from './poolMove.ts'
import type { SeededChain } from './seeding.ts'

const GAS = 25_000_000n
/** How far a fair price wanders in one round, and how far it may stray from the plan. */
const STEP = 0.0015
const STRAY = 0.2

export class Traders {
  readonly #client: Client
  readonly #chain: SeededChain
  readonly #random: Random
  readonly #fair: Map<string, number>
  readonly #plan: ChainPlan
  readonly #left = new Set<Address>()

  constructor(client: Client, plan: ChainPlan, chain: SeededChain, random: Random) {
    this.#client = client
    this.#plan = plan
    this.#chain = chain
    this.#random = random
    this.#fair = new Map(plan.tokens.map(token => [token.symbol, token.usd]))
  }

  /** Dollars per token, according to the traders. */
  fairUsd(symbol: string): number {
    return this.#fair.get(symbol) as number
  }

  /** Sets the traders' value of a token from now on; a stable's value does not wander. */
  setFair(symbol: string, usd: number): void {
    this.#fair.set(symbol, usd)
  }

  /** These pools are no longer traded, until they are resumed. */
  leave(pools: readonly Address[]): void {
    for (const pool of pools) this.#left.add(pool)
  }

  takeUp(pools: readonly Address[]): void {
    for (const pool of pools) this.#left.delete(pool)
  }

  /** Atomic token1 per atomic token0 at the fair prices. */
  fairPrice({ token0, token1 }: WorldPool): number {
    return (
      (this.fairUsd(token0.symbol) / this.fairUsd(token1.symbol)) * 10 ** (token1.decimals - token0.decimals)
    )
  }

  /** Derives fair prices from the pools, so that a restored chain resumes where it was. */
  async learn(): Promise<void> {
    const known = new Set(this.#plan.tokens.filter(({ role }) => role === 'STABLE').map(each => each.symbol))
    const prices = await Promise.all(this.#chain.pools.map(pool => readPrice(this.#client, pool)))
    // Anchors come first in the plan: one pass finds a partner of known value for every token.
    for (const [at, pool] of this.#chain.pools.entries()) {
      const price = toNumber(prices[at] as PoolPrice)
      const [is0, is1] = [known.has(pool.token0.symbol), known.has(pool.token1.symbol)]
      if (price === null || is0 === is1) continue
      const [from, to] = is0 ? [pool.token0, pool.token1] : [pool.token1, pool.token0]
      const whole = price * 10 ** (pool.token0.decimals - pool.token1.decimals)
      this.#fair.set(to.symbol, bounded(to, this.fairUsd(from.symbol) * (is0 ? 1 / whole : whole)))
      known.add(to.symbol)
    }
  }

  /**
   * One round: fair prices wander, then a few pools are traded towards them in one transaction; false if none was. On
   * a chain of the OP stack without automatic blocks it may be a deposit.
   */
  async round(mayDeposit = false): Promise<boolean> {
    for (const token of this.#plan.tokens) if (token.role !== 'STABLE') this.#wander(token)
    const chosen = this.#chain.pools.filter(pool => {
      const isAnchor = pool.token0.role !== 'TOKEN' && pool.token1.role !== 'TOKEN'
      return this.#random.integer(1, 100) <= (isAnchor ? 50 : 30)
    })
    const traded = chosen.filter(pool => !this.#left.has(pool.address))
    const prices = await Promise.all(traded.map(pool => readPrice(this.#client, pool)))
    const calls = traded.flatMap((pool, at) => this.#towardsFair(pool, prices[at] as PoolPrice) ?? [])
    if (calls.length === 0) return false
    const isDeposit = mayDeposit && this.#plan.isOpStack === true && this.#random.chance(1, 2)
    const through = isDeposit ? sendDeposit : send
    await trader.batch(this.#client, this.#chain.trader, calls, GAS, through)
    return true
  }

  #wander(token: TokenPlan): void {
    const drawn = (this.#random.integer(0, 2000) - 1000) / 1000
    this.#fair.set(token.symbol, bounded(token, this.fairUsd(token.symbol) * (1 + drawn * STEP)))
  }

  #towardsFair(pool: WorldPool, from: PoolPrice): Hex | null {
    const fair = this.fairPrice(pool)
    const price = toNumber(from)
    if (price === null) return null
    const move = Math.abs(fair / price - 1)
    const { worthIt, outOfReach, share } = familyOf(pool).trading
    return move < worthIt || move > outOfReach ? null : moveTo(pool, from, fair, share)
  }
}

const bounded = (token: TokenPlan, usd: number): number =>
  Math.min(Math.max(usd, token.usd * (1 - STRAY)), token.usd * (1 + STRAY))
