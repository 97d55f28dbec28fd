/**
 * Reads pools with ticks at one block: every bitmap word and tick around the price, far enough for exact depth.
 */
import {
  type LoadedPool,
  MAX_TICK,
  MIN_TICK,
  rangeOfWords,
  type Slot,
  type Tick,
  tickBitmap,
} from '@assay/engine'
import type { Address, Hex } from '../ops/hex.ts'
import type { Reader } from './family.ts'
import type { KnownTicks, TickSpan } from './market.ts'
import { answered } from './reading.ts'
import { callData, encodeInt, intAt, uintAt } from './abiWords.ts'

/** Ticks on each side of the price that are always read: a little over 20%. */
const REACH = 2000
/** Ticks on each side of the past price range: a little over 2%. */
const SPAN_REACH = 210
/** Most bitmap words read for the past price range. */
const MOST_WORDS = 64

/** How to read a family's bitmap and ticks. */
export type TickCalls = {
  /** The contract that answers. */
  readonly at: Address
  word(position: bigint): Hex
  tick(tick: number): Hex
  /** Decodes the answer for a tick; left out, gross and net are its first two words. */
  readonly liquidity?: (answer: Hex) => { readonly gross: bigint; readonly net: bigint }
}

/** Calls made of a selector and one word each. */
export const tickCalls = (at: Address, wordSelector: Hex, tickSelector: Hex): TickCalls => ({
  at,
  word: position => callData(wordSelector, encodeInt(position)),
  tick: tick => callData(tickSelector, encodeInt(BigInt(tick))),
})

/**
 * Reads the slot and the ticks around it. The `known` ticks are read in the same round as the slot; differences take
 * further rounds, and the result is the same.
 */
export async function readWithTicks<State extends Slot>(
  reader: Reader,
  calls: TickCalls,
  spacing: Tick,
  readState: () => Promise<State>,
  known: KnownTicks | undefined,
  span: TickSpan | undefined,
): Promise<{ readonly state: State; readonly ticks: LoadedPool['ticks'] }> {
  const ask = remembered(data => answered(reader, calls.at, data))
  // A failure is thrown again where the answer is needed.
  for (const data of known === undefined ? [] : likelyCalls(calls, known, spacing))
    ask(data).catch(() => null)
  const state = await readState()
  return { state, ticks: await readTicks(ask, calls, state, spacing, span) }
}

async function readTicks(
  ask: (data: Hex) => Promise<Hex>,
  calls: TickCalls,
  state: Slot,
  spacing: Tick,
  span?: TickSpan,
): Promise<LoadedPool['ticks']> {
  // Liquidity cannot be added before there is a price.
  if (state.sqrtPriceX96 === 0n) return { range: { lowest: MIN_TICK, highest: MAX_TICK }, entries: [] }
  const words = await Promise.all(
    wordsOver(state.tick, spacing, span).map(async position => ({
      position,
      bits: uintAt(await ask(calls.word(position)), 0),
    })),
  )
  const entries = await Promise.all(
    words
      .flatMap(word => tickBitmap.ticksOf(word, spacing))
      .map(async at => {
        const answer = await ask(calls.tick(at))
        return { tick: at, ...(calls.liquidity ?? inTwoWords)(answer) }
      }),
  )
  return { range: rangeOfWords(spacing, words), entries }
}

const inTwoWords = (answer: Hex) => ({ gross: uintAt(answer, 0), net: intAt(answer, 1) })

/** The calls needed if the pool still is as known. */
function likelyCalls(calls: TickCalls, { at, set }: KnownTicks, spacing: Tick): readonly Hex[] {
  const words = wordsAround(at, spacing)
  const isNear = (tick: number) => words.includes(BigInt(wordOf(tick, spacing)))
  return [...words.map(each => calls.word(each)), ...set.filter(isNear).map(each => calls.tick(each))]
}

/** Bitmap words around the tick, extended to the past price range up to a limit. */
function wordsOver(at: number, spacing: Tick, span?: TickSpan): readonly bigint[] {
  const around = wordsAround(at, spacing)
  if (span === undefined) return around
  let [first, last] = [Number(around[0]), Number(around.at(-1))]
  const lowest = wordOf(Math.max(MIN_TICK, span.lowest - SPAN_REACH), spacing)
  const highest = wordOf(Math.min(MAX_TICK, span.highest + SPAN_REACH), spacing)
  while (last - first + 1 < MOST_WORDS && (lowest < first || highest > last))
    if (lowest < first && (highest <= last || first - lowest <= highest - last)) first--
    else last++
  return Array.from({ length: last - first + 1 }, (_, index) => BigInt(first + index))
}

/** Positions of the bitmap words that are always read around a tick. */
function wordsAround(at: number, spacing: Tick): readonly bigint[] {
  const [first, last] = [wordOf(at - REACH, spacing), wordOf(at + REACH, spacing)]
  return Array.from({ length: last - first + 1 }, (_, index) => BigInt(first + index))
}

const wordOf = (at: number, spacing: Tick): number => Math.floor(Math.floor(at / spacing) / 256)

/** Makes each call once, even if several callers need it. */
function remembered(ask: (data: Hex) => Promise<Hex>): (data: Hex) => Promise<Hex> {
  const asked = new Map<Hex, Promise<Hex>>()
  return data => {
    const before = asked.get(data) ?? ask(data)
    asked.set(data, before)
    return before
  }
}
