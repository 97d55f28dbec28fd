/**
 * The words in which a v3 pool keeps its initialised ticks: one bit for each multiple of the tick spacing, 256 to a
 * word.
 *
 * A swap searches no further than its current word, so it stops at the word's edge even when no tick is initialised
 * there, and every stop rounds. Moving down it stops at a word's first tick, moving up at its last: the two
 * directions have different stops.
 */
import type { Side } from './states.ts'
import { assert } from '../assert.ts'
import { type Count, count, type Tick, tick as toTick } from '../units.ts'
import { MAX_TICK, MIN_TICK } from './ticks.ts'

/** A word of the contract's `tickBitmap`, at its signed position. */
export type Word = { readonly position: bigint; readonly bits: bigint }

/** The position of a tick's bit; `tick` is a multiple of the spacing. */
export type BitPosition = { readonly word: bigint; readonly bit: Count }

const WORD_BITS = 256
const LAST_BIT = WORD_BITS - 1

export function positionOf(tick: Tick, tickSpacing: Tick): BitPosition {
  assert(tick % tickSpacing === 0, () => `tick ${tick} is not a multiple of the spacing ${tickSpacing}`)
  const compressed = tick / tickSpacing
  return { word: BigInt(compressed >> 8), bit: count(compressed & LAST_BIT) }
}

/** The ticks a word marks, ascending. */
export function ticksOf(word: Word, tickSpacing: Tick): Tick[] {
  const first = Number(word.position) * WORD_BITS
  const ticks: Tick[] = []
  for (let bits = word.bits, bit = 0; bits !== 0n; bits >>= 32n, bit += 32) {
    const part = Number(BigInt.asUintN(32, bits))
    for (let i = 0; i < 32; i++)
      if (((part >>> i) & 1) === 1) ticks.push(toTick((first + bit + i) * tickSpacing))
  }
  return ticks
}

/** The edge at which a swap coming from `tick` stops if no initialised tick comes first. */
export function edgeFrom(tick: Tick, side: Side, tickSpacing: Tick): Tick {
  const compressed = Math.floor(tick / tickSpacing)
  if (side === 0) {
    const edge = (compressed & ~LAST_BIT) * tickSpacing
    return edge < MIN_TICK ? MIN_TICK : toTick(edge)
  }
  // Moving up, the current tick is already behind the price, so the search starts at the next one.
  const edge = ((compressed + 1) | LAST_BIT) * tickSpacing
  return edge > MAX_TICK ? MAX_TICK : toTick(edge)
}

/** The first edge of that direction at or above `tick`, not clamped to the last ticks. */
export function edgeAtOrAbove(tick: Tick, side: Side, tickSpacing: Tick): Tick {
  const width = edgeDistance(tickSpacing)
  const offset = side === 0 ? 0 : LAST_BIT * tickSpacing
  return toTick(Math.ceil((tick - offset) / width) * width + offset)
}

export function edgeDistance(tickSpacing: Tick): Tick {
  return toTick(WORD_BITS * tickSpacing)
}
