/**
 * Endless blocks of a market: noise traders whose sizes have a heavy tail, arbitrage that pulls every pool back to
 * its token's price, liquidity that is added and removed, and occasionally an anchor that moves with all its pools.
 *
 * Most pools stay quiet: the choice of pools follows Zipf's law over those that can be traded at all. Every block has
 * exactly the requested number of swaps, and a seed gives the same blocks.
 */
import type { Side } from '../../engine/amm/states.ts'
import { type Block, type BlockRef } from '../../engine/chain/block.ts'
import type { Input } from '../../engine/input.ts'
import { tick as toTick } from '../../engine/units.ts'
import { Random } from '../random.ts'
import { handedOverMs } from './bringUp.ts'
import type { Draft } from './chainClock.ts'
import * as draw from './draw.ts'
import { type MarketToken, WRAPPED } from './graph.ts'
import { toUnits } from './liquidity.ts'
import { type Market, type MarketPool, unitUsd } from './market.ts'
import { POPULARITY, TRADE_USD } from './shape.ts'
import {
  isV3,
  type Order,
  place,
  type Position,
  priceOf,
  reservesOf,
  resizeV2,
  swap,
  swapTo,
} from './trade.ts'

export type TapeOptions = {
  readonly swapsPerBlock: number
  /** Share of the swaps that go to anchor pools. */
  readonly anchorShare?: number
  /** The routing assets move every `everyBlocks` blocks, by at least `leastBps`, in all their pools at once. */
  readonly anchorMove?: { readonly everyBlocks: number; readonly leastBps: number } | null
  /** Mints and burns per swap. */
  readonly liquidityShare?: number
  /** The pools that trade; by default those of the market that can be traded. */
  readonly active?: readonly MarketPool[]
}

/** A pool with less than this on a side is not traded. */
const LEAST_TRADED_USD = 50

/** Share of the swaps with an exact output. */
const EXACT_OUT_SHARE = 0.1

/** The largest share of a pool's holdings in one trade, so that a price moves by less than twice that. */
const MOST_OF_RESERVE = 0.004

/** A pool whose price is off by more than its fee plus this margin is brought back by the next trade. */
const ARBITRAGE_MARGIN = 0.001

/** The move of a token's price per trade, as the deviation of a logarithm. */
const DRIFT = 0.0003

/** A routing asset reverses before it is this far from its starting price, because positions are around that price. */
const WIDEST_SWING = 0.08

/** Draws for one more swap before the tape concludes that no pool can be traded. */
const MAX_DRAWS = 1_000

/** Positions the tape has opened and may close again. */
const MAX_OPEN = 1_000

export class Tape {
  readonly #market: Market
  readonly #options: Required<Omit<TapeOptions, 'active'>>
  readonly #random: Random
  readonly #anchors: readonly MarketPool[]
  readonly #others: readonly MarketPool[]
  readonly #anchorRanks: draw.Zipf
  readonly #otherRanks: draw.Zipf
  /** Logarithm of the dollars for one atomic unit, by place of the token. */
  readonly #logUsd: Float64Array
  readonly #startLogUsd: Float64Array
  readonly #open: { readonly pool: MarketPool; readonly position: Position }[] = []
  #blocks = 0

  constructor(market: Market, options: TapeOptions) {
    this.#market = market
    this.#options = {
      swapsPerBlock: options.swapsPerBlock,
      anchorShare: options.anchorShare ?? 0.2,
      anchorMove: options.anchorMove === undefined ? { everyBlocks: 20, leastBps: 20 } : options.anchorMove,
      liquidityShare: options.liquidityShare ?? 0.01,
    }
    this.#random = new Random(market.seed, 'tape')
    const traded = (options.active ?? market.pools).filter(pool => pool.sideUsd >= LEAST_TRADED_USD)
    this.#anchors = bySize(market.pools.filter(pool => pool.isAnchor))
    this.#others = bySize(traded.filter(pool => !pool.isAnchor))
    this.#anchorRanks = new draw.Zipf(this.#anchors.length, POPULARITY.exponent, POPULARITY.offset)
    this.#otherRanks = new draw.Zipf(this.#others.length, POPULARITY.exponent, POPULARITY.offset)
    this.#startLogUsd = Float64Array.from(market.tokens, (token: MarketToken) => Math.log(unitUsd(token)))
    this.#logUsd = Float64Array.from(this.#startLogUsd)
  }

  *inputs(): Generator<Extract<Input, { kind: 'block' }>, never> {
    for (;;) {
      const block = this.next()
      yield { kind: 'block', atMs: handedOverMs(block), block }
    }
  }

  next(): Block {
    const { swapsPerBlock, anchorMove, liquidityShare } = this.#options
    const transactions: Draft[][] = []
    if (anchorMove !== null && this.#blocks % anchorMove.everyBlocks === anchorMove.everyBlocks - 1)
      transactions.push(...this.#moveAnchors(anchorMove.leastBps).slice(0, swapsPerBlock))
    while (transactions.length < swapsPerBlock) transactions.push(this.#trade())
    for (let swaps = 0; swaps < swapsPerBlock; swaps++) {
      if (!draw.isWithin(this.#random, liquidityShare)) continue
      const drafts = this.#changeLiquidity()
      if (drafts !== null) transactions.push(drafts)
    }
    this.#blocks++
    return this.#market.clock.mine(transactions)
  }

  #trade(): Draft[] {
    for (let drawn = 0; drawn < MAX_DRAWS; drawn++) {
      const drafts = this.#tryTrade(this.#drawPool())
      if (drafts !== null) return drafts
    }
    throw new RangeError('none of the pools can be traded')
  }

  #drawPool(): MarketPool {
    const random = this.#random
    return draw.isWithin(random, this.#options.anchorShare)
      ? (this.#anchors[this.#anchorRanks.draw(random)] as MarketPool)
      : (this.#others[this.#otherRanks.draw(random)] as MarketPool)
  }

  /** Out of line: brought back. In line: a purchase or a sale, preferably the one that leads to the middle. */
  #tryTrade(pool: MarketPool): Draft[] | null {
    const random = this.#random
    const fair = this.#fairPrice(pool)
    const deviation = Math.log(priceOf(pool) / fair)
    const band = feeOf(pool) + ARBITRAGE_MARGIN
    this.#drift(pool)
    if (Math.abs(deviation) > band) return swapTo(pool, fair * Math.exp(Math.sign(deviation) * feeOf(pool)))
    const side: Side = draw.isWithin(random, 0.5 + 0.4 * (deviation / band)) ? 0 : 1
    return swap(pool, side, this.#drawOrder(pool, side))
  }

  #drawOrder(pool: MarketPool, side: Side): Order {
    const random = this.#random
    const usd = draw.logNormal(random, TRADE_USD.median, TRADE_USD.deviation)
    const kind = draw.isWithin(random, EXACT_OUT_SHARE) ? 'EXACT_OUT' : 'EXACT_IN'
    const paid: Side = kind === 'EXACT_IN' ? side : side === 0 ? 1 : 0
    const most = MOST_OF_RESERVE * reservesOf(pool)[paid]
    const units = usd / Math.exp(this.#logUsd[pool.places[paid]] as number)
    return { kind, amount: toUnits(Math.min(units, most)) }
  }

  /** Token1 per token0, by the values of both. */
  #fairPrice({ places }: MarketPool): number {
    return Math.exp((this.#logUsd[places[0]] as number) - (this.#logUsd[places[1]] as number))
  }

  /** A trade is news about the tokens of the tail; the anchors move independently. */
  #drift(pool: MarketPool): void {
    for (const place of pool.places)
      if ((this.#market.tokens[place] as MarketToken).role === 'TOKEN')
        (this.#logUsd[place] as number) += DRIFT * draw.normal(this.#random)
  }

  /** The first routing asset moves, the others roughly with it; the tail, priced in it, follows. */
  #moveAnchors(leastBps: number): Draft[][] {
    const random = this.#random
    const { tokens } = this.#market
    const lead = (this.#logUsd[WRAPPED] as number) - (this.#startLogUsd[WRAPPED] as number)
    const isDown = Math.abs(lead) > WIDEST_SWING ? lead > 0 : draw.isWithin(random, 0.5)
    // A quarter more than requested: the last move may have left the pools slightly short of the fair price.
    const size = ((1.25 + draw.uniform(random)) * leastBps) / 10_000
    const step = isDown ? -size : size
    tokens.forEach(({ role }, place) => {
      if (role === 'STABLE') return
      const isFollower = role === 'ROUTING' && place !== WRAPPED
      ;(this.#logUsd[place] as number) += isFollower ? step * (0.7 + 0.4 * draw.uniform(random)) : step
    })
    const drafts = this.#anchors.map(pool => swapTo(pool, this.#fairPrice(pool)))
    return drafts.filter(each => each !== null)
  }

  #changeLiquidity(): Draft[] | null {
    const random = this.#random
    const pool = this.#drawPool()
    if (!isV3(pool)) {
      const partPpm = BigInt(Math.floor(draw.logUniform(random, 100, 20_000)))
      return resizeV2(pool, draw.isWithin(random, 0.5) ? partPpm : -partPpm)
    }
    if (this.#open.length === MAX_OPEN || (this.#open.length > 0 && draw.isWithin(random, 0.5))) {
      const [closed] = this.#open.splice(draw.below(random, this.#open.length), 1)
      return closed !== undefined && isV3(closed.pool) ? place(closed.pool, 'BURN', closed.position) : null
    }
    const { tickSpacing } = pool.terms
    const halfWidth = Math.ceil(draw.logUniform(random, 1, 100))
    const centre = Math.round(pool.amm.tick / tickSpacing)
    const position = {
      lower: toTick((centre - halfWidth) * tickSpacing),
      upper: toTick((centre + halfWidth) * tickSpacing),
      liquidity: toUnits(Number(pool.amm.liquidity) * draw.logUniform(random, 0.0001, 0.05)),
    }
    const drafts = place(pool, 'MINT', position)
    if (drafts !== null) this.#open.push({ pool, position })
    return drafts
  }
}

/** Everything up to this block is final. */
export const finality = (block: BlockRef, atMs: Input['atMs']): Input => ({
  kind: 'finalize',
  atMs,
  number: block.number,
  hash: block.hash,
})

const bySize = (pools: readonly MarketPool[]): readonly MarketPool[] =>
  [...pools].sort((a, b) => b.sideUsd - a.sideUsd)

function feeOf({ terms }: MarketPool): number {
  if (terms.family === 'amm_v3') return Number(terms.feePpm) / 1e6
  return 1 - Number(terms.fee.numerator) / Number(terms.fee.denominator)
}
