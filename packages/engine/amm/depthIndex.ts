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
import type { Side, Slot } from './states.ts'
import { memory } from '../memory/switch.ts'
import { type Count, type Tick, tick as toTick } from '../units.ts'
import { MAX_TICK, MIN_TICK, positionAtOrBelow } from './ticks.ts'
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

/**
 * One direction. The first and last entry are the ends of the window, which need not be stops: a query ends inside
 * the window, so they are never passed.
 */
type Lane = {
  ticks: Tick[]
  pricesX96: bigint[]
  /** Liquidity of the segment that starts here; the last entry is unused. */
  liquidity: bigint[]
  /** Gross input of all segments below. */
  sums: bigint[]
}

const emptyLane = (): Lane => ({ ticks: [], pricesX96: [], liquidity: [], sums: [] })

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
    const [first, end, step] = side === 0 ? [within, 0, -1] : [within + 1, lane.ticks.length - 1, 1]
    const priceAt = (at: typeof first): bigint => lane.pricesX96[at] as bigint
    const isBeyond = (at: typeof first): boolean =>
      side === 0 ? priceAt(at) < limitX96 : priceAt(at) > limitX96
    if (!isBeyond(end) && priceAt(end) !== limitX96) return null
    if (isBeyond(first)) return this.#input(side, sqrtPriceX96, limitX96, liquidity)
    // The last stop before the limit. `first` is one, so the search ends there.
    let last = Math.max(positionAtOrBelow(lane.ticks, toTick(tick + ticks)), 0)
    while (isBeyond(last)) last -= step
    while (last !== end && !isBeyond(last + step)) last += step
    const [low, high] = side === 0 ? [last, first] : [first, last]
    const whole = (lane.sums[high] as bigint) - (lane.sums[low] as bigint)
    const sum = this.#input(side, sqrtPriceX96, priceAt(first), liquidity) + whole
    if (priceAt(last) === limitX96) return sum
    const rest = lane.liquidity[side === 0 ? last - 1 : last] as bigint
    return sum + this.#input(side, priceAt(last), limitX96, rest)
  }

  #input(side: Side, fromX96: bigint, toX96: bigint, liquidity: bigint): bigint {
    return swapMath.withFee(swapMath.inputBetween(side, fromX96, toX96, liquidity), this.#tradingPpm[side])
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
      const [fromX96, toX96] = side === 0 ? [upperX96, lowerX96] : [lowerX96, upperX96]
      const input = this.#input(side, fromX96, toX96, lane.liquidity[i - 1] as bigint)
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
