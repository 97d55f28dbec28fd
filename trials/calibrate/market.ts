/**
 * An honest market on one chain, block by block: fair values walk; arbitrageurs trade to the fee band when that pays
 * for the gas and when they are watching; noise traders trade; liquidity is added and removed; feeds answer.
 *
 * Every trade is made by the exact adapters, so the engine verifies every event. No output of the engine reaches the
 * market: with the same seed two engines see the same blocks.
 */
import type { Address } from '../../packages/engine/chain/block.ts'
import { DAI, USDC, WETH } from '../../packages/engine/testing/cast.ts'
import { Scenario } from '../../packages/engine/testing/scenario.ts'
import { Chance } from './chance.ts'
import type { MarketPlan, TokenPlan } from './plan.ts'
import { MarketPool, type Values } from './pool.ts'

const STABLE_PULL = 0.05
/** Standard deviation of a stable's walk over a block. */
const STABLE_NOISE = [
  [USDC, 0.4e-4],
  [DAI, 0.8e-4],
] as const
/** A feed writes when the value has moved this far from its last answer. */
const FEED_MOVE = 25e-4
/** Blocks between two finalizations, and from the tip to the block that is final. */
const FINALITY = { every: 16, depth: 64 } as const
const FIRST_USD = 1e-3

export type MarketToken = { readonly plan: TokenPlan; readonly pools: readonly MarketPool[] }

export class Market implements Values {
  readonly scenario: Scenario
  readonly plan: MarketPlan
  readonly anchors: MarketToken
  readonly tokens: readonly MarketToken[]
  /** Blocks since the start. */
  block = 0
  readonly #chance: Chance
  readonly #fairUsd = new Map<Address, number>()
  readonly #decimals = new Map<Address, number>()
  readonly #answers = new Map<Address, number>()
  readonly #passed: { readonly number: number; readonly hash: `0x${string}` }[] = []

  constructor(plan: MarketPlan, seed: number, policy?: unknown) {
    this.plan = plan
    this.#chance = new Chance(seed, 1)
    this.scenario = new Scenario({ stables: [USDC, DAI], routing: [WETH], policy })
    this.#set(USDC, 1, 6)
    this.#set(DAI, plan.daiUsd, 18)
    this.#set(WETH, plan.anchors.startUsd, 18)
    for (const token of plan.tokens) this.#set(token.address, token.startUsd, token.decimals)
    const { scenario } = this
    for (const stable of [USDC, DAI]) this.#answer(stable)
    if (plan.coverageUsd !== null) scenario.coverage(WETH, BigInt(Math.round(plan.coverageUsd)))
    this.anchors = this.#open(plan.anchors)
    for (const token of plan.tokens) scenario.enrol(token.address, token.decimals)
    this.tokens = plan.tokens.map(token => this.#open(token))
  }

  /** Fair dollars per atomic unit. */
  usd(token: Address): number {
    return this.wholeUsd(token) / 10 ** (this.#decimals.get(token) ?? 18)
  }

  /** Fair dollars per whole token. */
  wholeUsd(token: Address): number {
    return this.#fairUsd.get(token) ?? FIRST_USD
  }

  decimalsOf(token: Address): number {
    return this.#decimals.get(token) ?? 18
  }

  /** Performs the actions of the next block; `mine` closes it. */
  act(): void {
    this.block += 1
    this.#walk()
    for (const token of [this.anchors, ...this.tokens]) {
      for (const pool of token.pools) if (pool.plan.bornAt === this.block) pool.open(this, true)
      const live = token.pools.filter(({ isOpen, plan }) => isOpen && plan.bornAt !== this.block)
      this.#trade(token.plan, live)
    }
  }

  /** Closes the block, runs the timers that fell due before it, and lets blocks become final. */
  mine(): void {
    const { scenario } = this
    const dueBefore = scenario.sim.timeMs + scenario.sim.blockMs
    while (scenario.result.nextTimerMs !== null && scenario.result.nextTimerMs < dueBefore) scenario.timer()
    const block = scenario.mine()
    this.#passed.push({ number: block.number, hash: block.hash })
    if (this.block % FINALITY.every === 0 && this.#passed.length > FINALITY.depth) {
      const { number, hash } = this.#passed.at(-FINALITY.depth) as { number: number; hash: `0x${string}` }
      scenario.run({ kind: 'finalize', number: number as typeof block.number, hash })
    }
    for (const stable of [USDC, DAI])
      if (Math.abs((this.#answers.get(stable) ?? 0) / this.wholeUsd(stable) - 1) > FEED_MOVE)
        this.#answer(stable)
  }

  #set(token: Address, usd: number, decimals: number): void {
    this.#fairUsd.set(token, usd)
    this.#decimals.set(token, decimals)
  }

  #answer(stable: Address): void {
    const usd = this.wholeUsd(stable)
    this.#answers.set(stable, usd)
    this.scenario.stable(stable, BigInt(Math.round(usd * 1e8)))
  }

  #open(plan: TokenPlan): MarketToken {
    const pools = plan.pools.map(pool => new MarketPool(this.scenario, pool))
    for (const pool of pools) if (pool.plan.bornAt === null) pool.open(this, false)
    return { plan, pools }
  }

  #walk(): void {
    const step = (token: Address, bps: number) =>
      this.#fairUsd.set(token, this.wholeUsd(token) * Math.exp((bps / 1e4) * this.#chance.normal()))
    step(WETH, this.plan.anchors.habits.moveBps)
    for (const { address, habits } of this.plan.tokens) step(address, habits.moveBps)
    for (const [stable, noise] of STABLE_NOISE) {
      const centre = stable === DAI ? this.plan.daiUsd : 1
      const usd = this.wholeUsd(stable)
      const next = usd + STABLE_PULL * (centre - usd) + noise * this.#chance.normal()
      this.#fairUsd.set(stable, next)
    }
  }

  #trade({ habits }: TokenPlan, pools: readonly MarketPool[]): void {
    const chance = this.#chance
    const arbitrage = () => {
      for (const pool of pools) if (chance.is(habits.arbitrageChance)) pool.arbitrage(this, habits.gasUsd)
    }
    // Some arbitrageurs trade after the block's other trades, some before them.
    const isFirst = chance.is(0.5)
    if (isFirst) arbitrage()
    for (let left = pools.length === 0 ? 0 : chance.count(habits.tradesPerBlock); left > 0; left--) {
      const pool = this.#taken(pools)
      const usd = Math.min(habits.tradeUsd * Math.exp(1.2 * chance.normal()), pool.depthUsd(this))
      pool.trade(chance.pick([0, 1] as const), usd, this)
    }
    for (const pool of pools) if (chance.is(habits.liquidityChance)) this.#move(pool)
    if (!isFirst) arbitrage()
  }

  /** Most trades go where they move the price least. */
  #taken(pools: readonly MarketPool[]): MarketPool {
    const depths = pools.map(pool => pool.depthUsd(this))
    const total = depths.reduce((sum, depth) => sum + depth, 0)
    let left = this.#chance.is(0.3) ? 0 : total * this.#chance.unit()
    for (const [at, pool] of pools.entries()) {
      left -= depths[at] as number
      if (left <= 0 && !this.#chance.is(0.2)) return pool
    }
    return this.#chance.pick(pools)
  }

  #move(pool: MarketPool): void {
    const now = pool.depthUsd(this) / pool.plan.depthUsd
    const factor = this.#chance.between(0.6, 1.6)
    if (now * factor > 0.25 && now * factor < 4) pool.resize(factor)
  }
}
