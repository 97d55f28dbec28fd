/**
 * The input that a swap of a pool with ticks consumes on its way to a price limit, without walking there.
 *
 * For a window of ticks around the price each direction has a lane: its stops (initialised ticks and that direction's
 * own word edges) in ascending order, their square-root prices, the liquidity above each, and running sums of the
 * gross input of every whole segment. A query adds a part of the first segment, a difference of two sums and a part
 * of the last segment. The result equals, to the unit, the input the swap loop consumes.
 *
 * A swap moves only the price, so the lanes remain valid. A change of liquidity makes the next query recompute the
 * segments between its ticks.
 */
import { emptyLane, type Lane } from './depthLane.ts'
import type { Side, Slot } from './states.ts'
import { memory } from '../memory/switch.ts'
import { type Count, type Tick, tick as toTick } from '../units.ts'
import { MAX_TICK, MIN_TICK, positionAtOrBelow } from './ticks.ts'
import * as sqrtPriceMath from './sqrtPriceMath.ts'
import * as swapMath from './swapMath.ts'
import * as tickBitmap from './tickBitmap.ts'
import { sqrtRatioAtTick } from './tickMath.ts'

/** The parts of the tick book that the index reads. */
type Ticks = {
  readonly tickSpacing: Tick
  readonly lowest: Tick
  readonly highest: Tick
  positionAtOrBelow(tick: Tick): Count | -1
  tickAt(position: Count | -1): Tick | undefined
  netAt(position: Count): bigint
}

/** The window reaches this many times as far as the requested limit, so that the price may move. */
const WINDOW_REACH = 2

export class DepthIndex {
  readonly #book: Ticks
  /** Per direction, because some families charge a different fee in each. */
  readonly #tradingPpm: [bigint, bigint]
  #low = MAX_TICK
  #high = MIN_TICK
  /** Liquidity at the low end of the window. */
  #base = 0n
  #lanes: readonly [Lane, Lane] = [emptyLane(), emptyLane()]
  /** The range of ticks in which liquidity changed since the last query; empty while low is above high. */
  #changedLow = MAX_TICK
  #changedHigh = MIN_TICK
  /** Some segment would have negative liquidity. */
  #isContradictory = false

  constructor(book: Ticks, feePpm: bigint) {
    this.#book = book
    this.#tradingPpm = [swapMath.tradingPpm(feePpm), swapMath.tradingPpm(feePpm)]
  }

  /**
   * The gross input of token `side` that moves the price to the limit; `ticks` is the approximate distance. Null when
   * the known ticks do not reach that far, or when the state contradicts the book: the swap loop then decides.
   */
  inputTo(state: Slot, side: Side, limitX96: bigint, ticks: Tick): bigint | null {
    if (!memory.isOn) return null
    if (this.#changedLow <= this.#changedHigh) this.#recompute(this.#changedLow, this.#changedHigh)
    return this.#query(state, side, limitX96, ticks) ?? this.#rebuildAndQuery(state, side, limitX96, ticks)
  }

  /** Sets the fee of one direction. */
  setFee(side: Side, feePpm: bigint): void {
    const trading = swapMath.tradingPpm(feePpm)
    if (this.#tradingPpm[side] === trading) return
    this.#tradingPpm[side] = trading
    if (this.#low < this.#high) this.#recomputeLane(side, this.#low, this.#high)
  }

  /** Liquidity changed by `delta` between two ticks. */
  touch(lower: Tick, upper: Tick, delta: bigint): void {
    if (upper <= this.#low || lower >= this.#high) return
    if (lower <= this.#low) this.#base += delta
    this.#changedLow = toTick(Math.min(this.#changedLow, Math.max(lower, this.#low)))
    this.#changedHigh = toTick(Math.max(this.#changedHigh, Math.min(upper, this.#high)))
  }

  /** Null when the window does not hold both price and limit, or when its liquidity at the price differs. */
  #query(state: Slot, side: Side, limitX96: bigint, ticks: Tick): bigint | null {
    const { sqrtPriceX96, tick, liquidity } = state
    if (tick < this.#low || tick >= this.#high || this.#isContradictory) return null
    const lane = this.#lanes[side]
    const within = positionAtOrBelow(lane.ticks, tick) as Count
    if (lane.liquidity[within] !== liquidity) return null
    return side === 0
      ? this.#inputDown(lane, within, sqrtPriceX96, limitX96, liquidity, toTick(tick + ticks))
      : this.#inputUp(lane, within, sqrtPriceX96, limitX96, liquidity, toTick(tick + ticks))
  }

  #inputDown(
    { ticks, pricesX96, liquidity, sums }: Lane,
    first: Count,
    priceX96: bigint,
    limitX96: bigint,
    current: bigint,
    approx: Tick,
  ): bigint | null {
    if (limitX96 < (pricesX96[0] as bigint)) return null
    const firstX96 = pricesX96[first] as bigint
    if (firstX96 <= limitX96) return this.#input0(limitX96, priceX96, current)
    // The last stop is the lowest at or above the limit. `first` satisfies this, so the search ends there.
    let last = Math.max(positionAtOrBelow(ticks, approx), 0)
    while ((pricesX96[last] as bigint) < limitX96) last++
    while (last > 0 && (pricesX96[last - 1] as bigint) >= limitX96) last--
    const whole = (sums[first] as bigint) - (sums[last] as bigint)
    const lastX96 = pricesX96[last] as bigint
    const sum = this.#input0(firstX96, priceX96, current) + whole
    return lastX96 === limitX96 ? sum : sum + this.#input0(limitX96, lastX96, liquidity[last - 1] as bigint)
  }

  #inputUp(
    { ticks, pricesX96, liquidity, sums }: Lane,
    below: Count,
    priceX96: bigint,
    limitX96: bigint,
    current: bigint,
    approx: Tick,
  ): bigint | null {
    const end = ticks.length - 1
    if (limitX96 > (pricesX96[end] as bigint)) return null
    const first = below + 1
    const firstX96 = pricesX96[first] as bigint
    if (firstX96 >= limitX96) return this.#input1(priceX96, limitX96, current)
    // The last stop is the highest at or below the limit. `first` satisfies this, so the search ends there.
    let last = Math.max(positionAtOrBelow(ticks, approx), 0)
    while ((pricesX96[last] as bigint) > limitX96) last--
    while (last < end && (pricesX96[last + 1] as bigint) <= limitX96) last++
    const whole = (sums[last] as bigint) - (sums[first] as bigint)
    const lastX96 = pricesX96[last] as bigint
    const sum = this.#input1(priceX96, firstX96, current) + whole
    return lastX96 === limitX96 ? sum : sum + this.#input1(lastX96, limitX96, liquidity[last] as bigint)
  }

  #input0(lowerX96: bigint, upperX96: bigint, liquidity: bigint): bigint {
    return swapMath.withFee(sqrtPriceMath.amount0Up(lowerX96, upperX96, liquidity), this.#tradingPpm[0])
  }

  #input1(lowerX96: bigint, upperX96: bigint, liquidity: bigint): bigint {
    return swapMath.withFee(sqrtPriceMath.amount1Up(lowerX96, upperX96, liquidity), this.#tradingPpm[1])
  }

  /** Builds a window around the price, as wide as this query needs and cut to the known range. */
  #rebuildAndQuery(state: Slot, side: Side, limitX96: bigint, ticks: Tick): bigint | null {
    const { tick, liquidity } = state
    const book = this.#book
    const endX96 = sqrtRatioAtTick(side === 0 ? book.lowest : book.highest)
    if (side === 0 ? limitX96 < endX96 : limitX96 > endX96) return null
    const reach = WINDOW_REACH * (Math.abs(ticks) + 1)
    const low = toTick(Math.max(tick - reach, book.lowest))
    const high = toTick(Math.min(tick + reach, book.highest))
    if (tick < low || tick >= high) return null
    this.#low = low
    this.#high = high
    this.#lanes = [emptyLane(), emptyLane()]
    this.#base = liquidity
    for (let at = book.positionAtOrBelow(tick); at >= 0; at = (at - 1) as Count | -1) {
      if ((book.tickAt(at) as Tick) <= low) break
      this.#base -= book.netAt(at as Count)
    }
    this.#isContradictory = false
    this.#recompute(low, high)
    return this.#query(state, side, limitX96, ticks)
  }

  #recompute(from: Tick, to: Tick): void {
    this.#recomputeLane(0, from, to)
    this.#recomputeLane(1, from, to)
    this.#changedLow = MAX_TICK
    this.#changedHigh = MIN_TICK
  }

  /** Reads the stops between two ticks from the book again, and recomputes every segment that touches them. */
  #recomputeLane(side: Side, from: Tick, to: Tick): void {
    const lane = this.#lanes[side]
    const kept = positionAtOrBelow(lane.ticks, toTick(from - 1)) + 1
    const resumed = positionAtOrBelow(lane.ticks, to) + 1
    const stops = this.#stopsBetween(side, from, to)
    const before = lane.sums[resumed]
    const replace = <T>(list: T[], middle: T[]): T[] => [
      ...list.slice(0, kept),
      ...middle,
      ...list.slice(resumed),
    ]
    lane.liquidity = replace(lane.liquidity, this.#liquidityFrom(lane.liquidity[kept - 1], stops))
    lane.ticks = replace(lane.ticks, stops)
    lane.pricesX96 = replace(lane.pricesX96, stops.map(sqrtRatioAtTick))
    lane.sums = replace(
      lane.sums,
      stops.map(() => 0n),
    )

    const end = kept + stops.length
    for (let i = Math.max(kept, 1); i < lane.ticks.length && i <= end; i++) {
      const lowerX96 = lane.pricesX96[i - 1] as bigint
      const upperX96 = lane.pricesX96[i] as bigint
      const value = lane.liquidity[i - 1] as bigint
      const input =
        side === 0 ? this.#input0(lowerX96, upperX96, value) : this.#input1(lowerX96, upperX96, value)
      lane.sums[i] = (lane.sums[i - 1] as bigint) + input
    }
    if (before === undefined) return
    const moved = (lane.sums[end] as bigint) - before
    for (let i = end + 1; i < lane.sums.length; i++) lane.sums[i] = (lane.sums[i] as bigint) + moved
  }

  /** Ascending, including the ends of the window if the interval reaches them. */
  #stopsBetween(side: Side, from: Tick, to: Tick): Tick[] {
    const book = this.#book
    const stops: Tick[] = from === this.#low ? [from] : []
    let position = book.positionAtOrBelow(toTick(from - 1)) + 1
    let initialised = book.tickAt(position as Count) ?? Infinity
    let edge = tickBitmap.edgeAtOrAbove(from, side, book.tickSpacing)
    for (;;) {
      const next = toTick(Math.min(initialised, edge))
      if (next > to) break
      if (next > this.#low && next < this.#high) stops.push(next)
      if (next === edge) edge = toTick(edge + tickBitmap.edgeDistance(book.tickSpacing))
      if (next === initialised) initialised = book.tickAt(++position as Count) ?? Infinity
    }
    if (to === this.#high) stops.push(to)
    return stops
  }

  /** The liquidity that starts at each stop; `below` is that of the segment below the first stop, if known. */
  #liquidityFrom(below: bigint | undefined, stops: readonly Tick[]): bigint[] {
    const book = this.#book
    let liquidity = below ?? this.#base
    return stops.map(stop => {
      const position = book.positionAtOrBelow(stop)
      if (stop !== this.#low && book.tickAt(position) === stop) liquidity += book.netAt(position as Count)
      if (liquidity < 0n) this.#isContradictory = true
      return liquidity
    })
  }
}
