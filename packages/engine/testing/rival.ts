/**
 * Another search for a cheap way to move a published price, which knows nothing of `cost/`: random pushes of random pools,
 * each made as small as still works, on a copy of the engine that the steps of a real life are played to.
 */
import type { Address } from '../chain/block.ts'
import { step } from '../engine.ts'
import { encodeEntity, decodeState, entityKeys } from '../stored/codec.ts'
import type { EntityKey } from '../entities.ts'
import type { Side } from '../amm/states.ts'
import { ms } from '../units.ts'
import { T } from './cast.ts'
import type { ChainSim } from './chainSim.ts'
import type { Move } from '../cost/cost.ts'
import { searchedIn } from './costMoves.ts'
import { type Random, seeded } from './randomMarket.ts'
import type { SmallMarket } from './smallMarket.ts'

/** A push: how many bps the marginal price of a pool is moved, up or down. */
type Push = { readonly pool: Address; readonly bps: number }

export type RivalPlan = { readonly pushes: readonly Push[]; readonly lossUsd: number }

/** Of a contest. */
export type Outcome = {
  readonly seed: number
  readonly move: Move
  /** Null: none was found. */
  readonly ownUsd: number | null
  readonly rival: RivalPlan | null
  /** What the rival's plan costs of ours; 0 where we found none and null where the rival did not. */
  readonly share: number | null
}

const RIVAL_PLANS = 16

/** The market of a seed and its move; null if its price is not believed as it is. */
export function contest(seed: number, plans: number = RIVAL_PLANS): Outcome | null {
  const searched = searchedIn(seed)
  if (searched === null) return null
  const { market, move, found } = searched
  const rival = new Rival(market).best(seeded(seed), plans, move.isUp, move.bps)
  const ownUsd = found === null ? null : Number(found.loss) / 1e6
  const share = rival === null ? null : ownUsd === null ? 0 : ownUsd === 0 ? 1 : rival.lossUsd / ownUsd
  return { seed, move, ownUsd, rival, share }
}

const HALVINGS = 5
/** After the push, and when the five-minute medians have followed. */
const LOOKS_MS = [0, 151_000, 330_000]
const STEPS = 60

export class Rival {
  readonly #market: SmallMarket
  readonly #texts: readonly (readonly [EntityKey, string])[]
  readonly #usdPerUnit: (token: Address) => number

  constructor(market: SmallMarket) {
    const { s } = market
    this.#market = market
    this.#texts = [...entityKeys(s.state)].flatMap(key => {
      const text = encodeEntity(s.state, key)
      return text === null ? [] : [[key, text] as const]
    })
    const moment = s.moment()
    const { num, den } = s.pricedNow(T).marginalUsd
    this.#usdPerUnit = token => {
      if (token === T) return Number(num) / Number(den) / 1e18
      const worth = moment.worth(token)
      return worth === null ? 0 : worth.approx
    }
  }

  /** The cheapest of so many random plans, each scaled down to what still works. */
  best(random: Random, plans: number, isUp: boolean, bps: number): RivalPlan | null {
    let best: RivalPlan | null = null
    for (let n = 0; n < plans; n++) {
      const plan = this.#randomPlan(random, isUp, bps)
      let [fails, works] = [0, 1.3]
      let found = this.#played(plan, works, isUp, bps, best?.lossUsd ?? Infinity, true)
      if (found === null) continue
      for (let half = 0; half < HALVINGS; half++) {
        const middle = (fails + works) / 2
        const next = this.#played(plan, middle, isUp, bps, Infinity, false)
        if (next === null) fails = middle
        else {
          works = middle
          found = next
        }
      }
      if (best === null || found.lossUsd < best.lossUsd) best = found
    }
    return best
  }

  /** Mostly own pools and mostly towards the wanted price; sometimes an anchor, sometimes the other way. */
  #randomPlan(random: Random, isUp: boolean, bps: number): Push[] {
    const { own, all } = this.#market
    const pools = random.chance(0.75) ? own : all
    const chosen = pools.filter(() => random.chance(0.65))
    return (chosen.length === 0 ? [random.pick(pools)] : chosen).map(pool => {
      const share = random.chance(0.5) ? 1 : random.below(1000) / 1000
      const isAway = random.chance(0.05)
      return { pool, bps: Math.round(bps * share) * (isUp === isAway ? -1 : 1) }
    })
  }

  /** Null where it is not believed; while it is new, also where it costs more than `most` at a tenth less. */
  #played(
    plan: readonly Push[],
    scale: number,
    isUp: boolean,
    bps: number,
    most: number,
    isNew: boolean,
  ): RivalPlan | null {
    const { s } = this.#market
    const sim = s.branch('r')
    let lossUsd = 0
    const pushes = plan.map(({ pool, bps: each }) => ({ pool, bps: each * scale }))
    for (const { pool, bps: each } of pushes) lossUsd += this.#push(sim, pool, each)
    if (isNew && lossUsd > most * 3) return null
    const state = decodeState(s.state.setup, this.#texts)
    const before = s.pricedNow(T).price
    let passedMs = 0
    for (const lookMs of LOOKS_MS) {
      const block = sim.mine({ afterMs: lookMs === 0 ? sim.blockMs : lookMs - passedMs })
      passedMs = lookMs
      step(state, { kind: 'block', block, atMs: ms(block.timeMs) })
      const compact = state.tokens.get(T)?.published?.compact
      if (compact?.state !== 'PRICED') return null
      const price = { num: BigInt(compact.price_usd.numerator), den: BigInt(compact.price_usd.denominator) }
      const wanted = 10_000n + BigInt(isUp ? bps : -bps)
      const left = price.num * before.den * 10_000n
      const right = price.den * before.num * wanted
      if (isUp ? left < right : left > right) return null
      if (compact.confidence.score >= 4) return { pushes, lossUsd }
    }
    return null
  }

  /** Moves the pool's marginal price of X, and gives what the way there and back loses. */
  #push(sim: ChainSim, pool: Address, bps: number): number {
    const { x } = this.#market.s.pool(pool)
    const side: Side = bps > 0 ? (x === 0 ? 1 : 0) : x
    const goal = 1 + Math.abs(bps) / 10_000
    if (Math.abs(bps) < 1) return 0
    const start = priceOf(sim, pool)
    const isShort = (amount: bigint) => {
      const now = priceOfState(sim.quote(pool, side, amount).state)
      return Math.max(now / start, start / now) < (bps > 0 ? goal : 1 / (2 - goal))
    }
    let high = 1n
    while (isShort(high) && high < 1n << 120n) high *= 2n
    let low = high / 2n
    for (let n = 0; n < STEPS && high - low > 1n; n++) {
      const middle = (low + high) / 2n
      if (isShort(middle)) low = middle
      else high = middle
    }
    // A sale ends with a small one: the average of a large one may be what is published.
    const last = side === x ? high / 100_000n : 0n
    let out = 0n
    for (const part of [high - last, last]) {
      if (part === 0n) continue
      out += sim.quote(pool, side, part).amountOut
      sim.swap(pool, side, part)
    }
    const back = sim.quote(pool, side === 0 ? 1 : 0, out).amountOut
    const { token0, token1 } = sim.born(pool)
    return Number(high - back) * this.#usdPerUnit(side === 0 ? token0 : token1)
  }
}

const priceOf = (sim: ChainSim, pool: Address): number => priceOfState(sim.amm(pool))

function priceOfState(state: ReturnType<ChainSim['amm']>): number {
  if (state.family === 'amm_v2') return Number(state.reserve1) / Number(state.reserve0)
  return (Number(state.sqrtPriceX96) / 2 ** 96) ** 2
}
