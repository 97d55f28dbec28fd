/**
 * Pools with ticks, read at one block: every bitmap word and tick around the price, far enough for depth to be exact.
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
import type { Address, Hex } from '../ops/config.ts'
import type { Reader } from './family.ts'
import type { KnownTicks, TickSpan } from './market.ts'
import { answered } from './reading.ts'
import { callData, encodeInt, intAt, uintAt } from './words.ts'

/** Ticks to each side of the price that are always read: a little over 20%. */
const REACH = 2000
/** To each side of where the price has been: a little over 2%. */
const SPAN_REACH = 210
/** Of where it has been, no more is read than this. */
const MOST_WORDS = 64

/** How a family is asked for its bitmap and its ticks. */
export type TickCalls = {
  /** The contract that answers. */
  readonly at: Address
  word(position: bigint): Hex
  tick(tick: number): Hex
  /** What an answer says of a tick; left out, gross and net are its first two words. */
  readonly liquidity?: (answer: Hex) => { readonly gross: bigint; readonly net: bigint }
}

/** Each by its selector and one word. */
export const tickCalls = (at: Address, wordSelector: Hex, tickSelector: Hex): TickCalls => ({
  at,
  word: position => callData(wordSelector, encodeInt(position)),
  tick: tick => callData(tickSelector, encodeInt(BigInt(tick))),
})

/**
 * The slot and the ticks around it. What is `known` of the pool is asked for in the same round as the slot; what differs
 * takes further rounds, and the result is the same.
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
  // A failure is met again where the answer is needed.
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
  // Nobody can add liquidity before there is a price.
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

/** What is asked for if the pool still is as it is known. */
function likelyCalls(calls: TickCalls, { at, set }: KnownTicks, spacing: Tick): readonly Hex[] {
  const words = wordsAround(at, spacing)
  const isNear = (tick: number) => words.includes(BigInt(wordOf(tick, spacing)))
  return [...words.map(each => calls.word(each)), ...set.filter(isNear).map(each => calls.tick(each))]
}

/** Those, and on to where the price has been, as far as that is worth it. */
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

/** Each call once, whichever caller needs it first. */
function remembered(ask: (data: Hex) => Promise<Hex>): (data: Hex) => Promise<Hex> {
  const asked = new Map<Hex, Promise<Hex>>()
  return data => {
    const before = asked.get(data) ?? ask(data)
    asked.set(data, before)
    return before
  }
}
