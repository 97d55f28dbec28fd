/**
 * The initialised ticks of one pool.
 *
 * Invariant: every initialised tick between `lowest` and `highest`, both included, is in the book; outside that range
 * nothing is known and nothing is kept. A tick is in the book exactly while some position starts or ends there.
 *
 * The book changes in place, because it is large and a change touches two ticks. A change followed by its inverse
 * restores the book, which lets a journal undo a block.
 */
import type { Side, TickChange } from './states.ts'
import { assert } from '../assert.ts'
import { type Count, count, type Tick } from '../units.ts'
import { DepthIndex } from './depthIndex.ts'
import { MAX_TICK, MIN_TICK, positionAtOrBelow } from './ticks.ts'
import { UINT128_MAX } from './sqrtPriceMath.ts'
import * as tickBitmap from './tickBitmap.ts'

/** `gross` is the liquidity of all positions that start or end here, `net` what crossing upwards adds. */
export type TickEntry = { readonly tick: Tick; readonly gross: bigint; readonly net: bigint }

export type KnownRange = { readonly lowest: Tick; readonly highest: Tick }

/** All ticks of a range, as read from a node or written by a commit. */
export type LoadedTicks = { readonly range: KnownRange; readonly entries: readonly TickEntry[] }

export const FULL_RANGE: KnownRange = { lowest: MIN_TICK, highest: MAX_TICK }

/** Null: the pool is watched from its creation. Nothing is initialised, and this is known for the whole range. */
export function fromLoaded(tickSpacing: Tick, ticks: LoadedTicks | null): TickBook {
  return new TickBook(tickSpacing, ticks?.range ?? FULL_RANGE, ticks?.entries ?? [])
}

/** The terms of a pool with ticks, from all of them but the book. */
export const withBook = <Known extends { readonly tickSpacing: Tick }>(
  known: Known,
  ticks: LoadedTicks | null,
) => ({ ...known, book: fromLoaded(known.tickSpacing, ticks) })

/**
 * A book loaded word by word. The words are contiguous and ascending, and decide the known range; `entries`
 * has the liquidity of every tick they mark.
 */
export function fromWords(
  tickSpacing: Tick,
  words: readonly tickBitmap.Word[],
  entries: Iterable<TickEntry>,
): TickBook {
  const range = rangeOfWords(tickSpacing, words)
  const book = new TickBook(tickSpacing, range, entries)
  const marked = words.flatMap(word => tickBitmap.ticksOf(word, tickSpacing))
  const agrees = marked.length === book.size && marked.every((tick, i) => book.tickAt(count(i)) === tick)
  assert(
    agrees,
    () => `${marked.length} ticks are marked in the words, but a different set of ${book.size} was given`,
  )
  return book
}

/** The range known from these words; it extends to the end of the tick range if they reach its last usable tick. */
export function rangeOfWords(tickSpacing: Tick, words: readonly tickBitmap.Word[]): KnownRange {
  const first = words[0]
  assert(first !== undefined, 'a book needs at least one word')
  words.forEach((word, i) => {
    assert(
      word.position === first.position + BigInt(i),
      () => `word ${word.position} does not follow the one before`,
    )
  })
  const start = Number(first.position) * 256
  const low = start * tickSpacing
  const high = (start + words.length * 256 - 1) * tickSpacing
  return {
    lowest: low <= MIN_TICK + tickSpacing - 1 ? MIN_TICK : (low as Tick),
    highest: high >= MAX_TICK - tickSpacing + 1 ? MAX_TICK : (high as Tick),
  }
}

export class TickBook {
  readonly tickSpacing: Tick
  readonly lowest: Tick
  readonly highest: Tick
  // Parallel arrays instead of objects: with a hundred thousand pools, an object header per tick would add up.
  #ticks: readonly Tick[]
  #nets: bigint[]
  #grosses: bigint[]
  #depthIndex: DepthIndex | null = null

  /** The entries are the initialised ticks inside the range, in any order. */
  constructor(tickSpacing: Tick, range: KnownRange, entries: Iterable<TickEntry>) {
    assert(tickSpacing > 0, () => `tick spacing ${tickSpacing} is not positive`)
    const { lowest, highest } = range
    assert(
      lowest >= MIN_TICK && lowest <= highest && highest <= MAX_TICK,
      () => `no range ${lowest} to ${highest}`,
    )
    this.tickSpacing = tickSpacing
    this.lowest = lowest
    this.highest = highest
    const sorted = [...entries].sort((a, b) => a.tick - b.tick)
    sorted.forEach((entry, i) => assertEntry(entry, sorted[i - 1], this))
    this.#ticks = sorted.map(entry => entry.tick)
    this.#nets = sorted.map(entry => entry.net)
    this.#grosses = sorted.map(entry => sharedGross(entry.gross, entry.net))
  }

  get size(): Count {
    return count(this.#ticks.length)
  }

  /** The `position`-th initialised tick, ascending; positions shift when a tick is added or removed. */
  tickAt(position: Count | -1): Tick | undefined {
    return this.#ticks[position]
  }

  netAt(position: Count): bigint {
    return this.#nets[position] as bigint
  }

  /** The position of the greatest initialised tick at or below `tick`, -1 if there is none. */
  positionAtOrBelow(tick: Tick): Count | -1 {
    return positionAtOrBelow(this.#ticks, tick)
  }

  isKnown(tick: Tick): boolean {
    return tick >= this.lowest && tick <= this.highest
  }

  /**
   * Adds or removes liquidity between two ticks. Returns false, and changes nothing, when the contract could not have
   * done it: the ticks do not fit the spacing, less liquidity is there than is removed, or the result exceeds 128
   * bits.
   */
  change({ lower, upper, delta }: TickChange): boolean {
    if (lower >= upper || !this.#isUsable(lower) || !this.#isUsable(upper)) return false
    if (delta === 0n) return true
    if (delta < 0n ? -delta > this.heldBetween(lower, upper) : delta > this.#roomBetween(lower, upper))
      return false
    this.#add(lower, delta, delta)
    this.#add(upper, delta, -delta)
    this.#depthIndex?.touch(lower, upper, delta)
    return true
  }

  /**
   * The most that positions between these two ticks can hold: the liquidity that starts at the lower tick, (gross +
   * net) / 2, or that ends at the upper tick, (gross - net) / 2, whichever is less. A tick outside the known range
   * sets no limit.
   */
  heldBetween(lower: Tick, upper: Tick): bigint {
    const start = this.#entryAt(lower)
    const end = this.#entryAt(upper)
    const starting = !this.isKnown(lower) ? UINT128_MAX : start === null ? 0n : (start.gross + start.net) / 2n
    const ending = !this.isKnown(upper) ? UINT128_MAX : end === null ? 0n : (end.gross - end.net) / 2n
    return starting < ending ? starting : ending
  }

  /** All known entries, ascending, for storage; the constructor rebuilds the same book from them and the range. */
  entries(): TickEntry[] {
    return this.#ticks.map((tick, i) => ({
      tick,
      gross: this.#grosses[i] as bigint,
      net: this.#nets[i] as bigint,
    }))
  }

  /** The depth index of this book, built on first use; `feePpm` is the fee of selling token `side`. */
  depthIndex(side: Side, feePpm: bigint): DepthIndex {
    this.#depthIndex ??= new DepthIndex(this, feePpm)
    this.#depthIndex.setFee(side, feePpm)
    return this.#depthIndex
  }

  get hasDepthIndex(): boolean {
    return this.#depthIndex !== null
  }

  #isUsable(tick: Tick): boolean {
    return tick >= MIN_TICK && tick <= MAX_TICK && tick % this.tickSpacing === 0
  }

  #roomBetween(lower: Tick, upper: Tick): bigint {
    const lowerGross = this.#entryAt(lower)?.gross ?? 0n
    const upperGross = this.#entryAt(upper)?.gross ?? 0n
    return UINT128_MAX - (lowerGross > upperGross ? lowerGross : upperGross)
  }

  #entryAt(tick: Tick): TickEntry | null {
    const position = positionAtOrBelow(this.#ticks, tick)
    if (this.#ticks[position] !== tick) return null
    return { tick, gross: this.#grosses[position] as bigint, net: this.#nets[position] as bigint }
  }

  #add(tick: Tick, grossDelta: bigint, netDelta: bigint): void {
    if (!this.isKnown(tick)) return
    const position = positionAtOrBelow(this.#ticks, tick)
    if (this.#ticks[position] !== tick) {
      // Copies of the exact size: an array that grows in place reserves room for sixteen more.
      const at = position + 1
      this.#ticks = this.#ticks.toSpliced(at, 0, tick)
      this.#nets = this.#nets.toSpliced(at, 0, netDelta)
      this.#grosses = this.#grosses.toSpliced(at, 0, sharedGross(grossDelta, netDelta))
      return
    }
    const gross = (this.#grosses[position] as bigint) + grossDelta
    const net = (this.#nets[position] as bigint) + netDelta
    if (gross === 0n) {
      this.#ticks = this.#ticks.toSpliced(position, 1)
      this.#nets = this.#nets.toSpliced(position, 1)
      this.#grosses = this.#grosses.toSpliced(position, 1)
      return
    }
    this.#nets[position] = net
    this.#grosses[position] = sharedGross(gross, net)
  }
}

/** If only positions start here, gross and net are equal: keep one bigint. */
function sharedGross(gross: bigint, net: bigint): bigint {
  return gross === net ? net : gross
}

function assertEntry(entry: TickEntry, before: TickEntry | undefined, book: TickBook): void {
  const { tick, gross, net } = entry
  assert(tick % book.tickSpacing === 0, () => `tick ${tick} is not a multiple of ${book.tickSpacing}`)
  assert(book.isKnown(tick), () => `tick ${tick} is outside ${book.lowest} to ${book.highest}`)
  assert(before === undefined || before.tick < tick, () => `tick ${tick} is given twice`)
  const magnitude = net < 0n ? -net : net
  const possible = gross > 0n && gross <= UINT128_MAX && magnitude <= gross && (gross - magnitude) % 2n === 0n
  assert(possible, () => `tick ${tick} has gross ${gross} and net ${net}: no positions give that`)
}
