/**
 * One pool of the calibration market as its traders see it: prices in floating point, trades by the exact adapters.
 *
 * Sides, prices and amounts are in atomic units of token0 and token1, as in the contract.
 */
import { adapterOf, type AmmState, type PoolTerms } from '../../packages/engine/amm/families.ts'
import type { Side } from '../../packages/engine/amm/states.ts'
import { swap, TO_LIMIT } from '../../packages/engine/amm/swapLoop.ts'
import { MAX_SQRT_RATIO, MIN_SQRT_RATIO } from '../../packages/engine/amm/tickMath.ts'
import type { Address } from '../../packages/engine/chain/block.ts'
import type { Scenario } from '../../packages/engine/testing/scenario.ts'
import type { PoolPlan } from './plan.ts'

export type Amm = AmmState

/** sqrt(1.02) − 1: how far the square root price moves to the 2% boundary. */
const ROOT_STEP = Math.sqrt(1.02) - 1
const SPACINGS: Readonly<Record<number, number>> = { 100: 1, 500: 10, 3000: 60, 10_000: 200 }
/** Two positions around the price: a wide one, and a narrow one with two thirds of the depth. */
const WIDTHS = [
  { ticks: 24_000, share: 1 / 3 },
  { ticks: 4_000, share: 2 / 3 },
] as const
const X96 = 2 ** 96
const WHATEVER_IT_COSTS = -Infinity

type Position = { readonly lower: number; readonly upper: number; liquidity: bigint; readonly opened: bigint }

/** USD per atomic unit. */
export type Values = { readonly usd: (token: Address) => number }

export class MarketPool {
  readonly plan: PoolPlan
  readonly token0: Address
  readonly token1: Address
  /** Side of the token that the pool prices. */
  readonly tokenSide: Side
  readonly keep: number
  readonly #scenario: Scenario
  readonly #positions: Position[] = []
  #opened = 0

  constructor(scenario: Scenario, plan: PoolPlan) {
    this.#scenario = scenario
    this.plan = plan
    ;[this.token0, this.token1] =
      plan.token <= plan.quote ? [plan.token, plan.quote] : [plan.quote, plan.token]
    this.tokenSide = plan.token === this.token0 ? 0 : 1
    this.keep = 1 - plan.feePpm / 1e6
  }

  get address(): Address {
    return this.plan.address
  }

  get amm(): Amm {
    return this.#scenario.sim.amm(this.address)
  }

  /** The engine's own copy: the fee never changes, and the ticks are those of the events sent to it. */
  get terms(): PoolTerms {
    return this.#scenario.pool(this.address).terms
  }

  get isOpen(): boolean {
    return this.#opened > 0
  }

  /** Adds the planned depth at the fair price: as existing liquidity, or as events of the next block. */
  open(values: Values, isBorn: boolean): void {
    const { plan } = this
    const ratio = values.usd(this.token0) / values.usd(this.token1)
    const depth1 = plan.depthUsd / values.usd(this.token1)
    this.#opened = plan.depthUsd
    if (plan.family === 'amm_v2') {
      const reserve1 = depth1 / ROOT_STEP
      const keep = BigInt(Math.round(this.keep * 1e6))
      const options = { deployment: plan.deployment, fee: [keep, 1_000_000n] as const }
      const [a, b] = [
        [this.token0, toUnits(reserve1 / ratio)],
        [this.token1, toUnits(reserve1)],
      ] as const
      if (isBorn) this.#scenario.bornV2(plan.address, a, b, options)
      else this.#scenario.v2(plan.address, a, b, options)
      return
    }
    const tickSpacing = SPACINGS[plan.feePpm] ?? 60
    const tick = Math.floor(Math.log(ratio) / Math.log(1.0001))
    for (const { ticks, share } of WIDTHS) {
      const liquidity = toUnits((depth1 * share) / (ROOT_STEP * Math.sqrt(ratio)))
      const snap = (at: number) => Math.round(at / tickSpacing) * tickSpacing
      this.#positions.push({
        lower: snap(tick - ticks),
        upper: snap(tick + ticks),
        liquidity,
        opened: liquidity,
      })
    }
    const options = {
      deployment: plan.deployment,
      feePpm: BigInt(plan.feePpm),
      tickSpacing,
      tick,
      positions: this.#positions.map(({ lower, upper, liquidity }) => [lower, upper, liquidity] as const),
    }
    if (isBorn) this.#scenario.bornV3(plan.address, this.token0, this.token1, options)
    else this.#scenario.v3(plan.address, this.token0, this.token1, options)
  }

  /** token1 per token0, fee-free. */
  marginal(): number {
    const { amm } = this
    if (amm.family === 'amm_v2') return Number(amm.reserve1) / Number(amm.reserve0)
    return (Number(amm.sqrtPriceX96) / X96) ** 2
  }

  /** Fee-free dollars per unit of the token in this pool. */
  tokenUsd(values: Values): number {
    const marginal = this.marginal()
    return this.tokenSide === 0 ? marginal * values.usd(this.token1) : values.usd(this.token0) / marginal
  }

  /** Approximate 2% depth in dollars. */
  depthUsd(values: Values): number {
    const { amm } = this
    if (amm.family === 'amm_v2') return Number(amm.reserve1) * ROOT_STEP * values.usd(this.token1)
    return Number(amm.liquidity) * Math.sqrt(this.marginal()) * ROOT_STEP * values.usd(this.token1)
  }

  /** Trades towards a marginal price of token0 in token1 if that pays for the gas. */
  tradeTo(target: number, values: Values, gasUsd: number): boolean {
    const side: Side = this.marginal() > target ? 0 : 1
    const amount = this.#inputTo(target, side)
    if (amount <= 0n) return false
    const out = this.#outOf(side, amount)
    if (out <= 0n) return false
    const [into, outOf] = side === 0 ? [this.token0, this.token1] : [this.token1, this.token0]
    const profit = Number(out) * values.usd(outOf) - Number(amount) * values.usd(into)
    if (profit <= gasUsd) return false
    this.#scenario.sim.swap(this.address, side, amount)
    return true
  }

  /** Moves the token's price to this multiple of the fair one, at any cost. */
  push(factor: number, values: Values): void {
    const target =
      (values.usd(this.token0) / values.usd(this.token1)) * (this.tokenSide === 0 ? factor : 1 / factor)
    this.tradeTo(target, values, WHATEVER_IT_COSTS)
  }

  /** Arbitrage to the edge of the fee band around the fair price. */
  arbitrage(values: Values, gasUsd: number): boolean {
    const fair = values.usd(this.token0) / values.usd(this.token1)
    const marginal = this.marginal()
    if (marginal * this.keep > fair) return this.tradeTo(fair / this.keep, values, gasUsd)
    if (marginal < fair * this.keep) return this.tradeTo(fair * this.keep, values, gasUsd)
    return false
  }

  /** Sells this many dollars of token0 or token1 into the pool. */
  trade(side: Side, usd: number, values: Values): void {
    const amount = toUnits(usd / values.usd(side === 0 ? this.token0 : this.token1))
    if (amount > 0n && this.#outOf(side, amount) > 0n) this.#scenario.sim.swap(this.address, side, amount)
  }

  /** Multiplies the liquidity, within a quarter and four times the initial amount. */
  resize(factor: number): void {
    const { amm } = this
    if (amm.family === 'amm_v2') {
      const [reserve0, reserve1] = [scaled(amm.reserve0, factor), scaled(amm.reserve1, factor)]
      if (reserve0 > 0n && reserve1 > 0n) this.#scenario.sim.reserves(this.address, reserve0, reserve1)
      return
    }
    for (const position of this.#positions) {
      const wanted = scaled(position.liquidity, factor)
      const change = wanted - position.liquidity
      if (change === 0n || wanted <= 0n) continue
      this.#scenario.sim.liquidity(this.address, position.lower, position.upper, change)
      position.liquidity = wanted
    }
  }

  #outOf(side: Side, amount: bigint): bigint {
    const swapped = adapterOf(this.terms.family).swapExactIn(this.terms, this.amm, side, amount)
    return 'reason' in swapped ? 0n : swapped.amountOut
  }

  #inputTo(target: number, side: Side): bigint {
    const { amm, terms } = this
    if (amm.family === 'amm_v2') {
      const [r0, r1] = [Number(amm.reserve0), Number(amm.reserve1)]
      const root = Math.sqrt(r0 * r1)
      return side === 0
        ? toUnits((root / Math.sqrt(target) - r0) / this.keep)
        : toUnits((root * Math.sqrt(target) - r1) / this.keep)
    }
    const limit = toUnits(Math.sqrt(target) * X96)
    if (terms.family !== 'amm_v3' || limit <= MIN_SQRT_RATIO || limit >= MAX_SQRT_RATIO) return 0n
    if (side === 0 ? limit >= amm.sqrtPriceX96 : limit <= amm.sqrtPriceX96) return 0n
    const swapped = swap(terms, amm, side, TO_LIMIT, limit)
    if ('reason' in swapped) return 0n
    return side === 0 ? swapped.amount0 : swapped.amount1
  }
}

export const toUnits = (value: number): bigint => (value > 0 ? BigInt(Math.floor(value)) : 0n)

const scaled = (value: bigint, factor: number): bigint =>
  (value * BigInt(Math.round(factor * 1e6))) / 1_000_000n
