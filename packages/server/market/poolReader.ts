/**
 * The complete state of a pool at a block hash. For v3 that is the slot, the liquidity, and every bitmap word
 * and tick around the price, far enough for depth to be exact.
 */
import {
  type LoadedPool,
  MAX_TICK,
  MIN_TICK,
  ms,
  type NewPool,
  rangeOfWords,
  type RecheckedPool,
  type Tick,
  tick,
  tickBitmap,
  type V2State,
  type V3State,
} from '@assay/engine'
import type { BlockRef, ChainRpc } from '../feed/feed.ts'
import type { Address, Hex } from '../ops/config.ts'
import { SELECTOR } from './abi.ts'
import type { KnownTicks, TickSpan } from './market.ts'
import { callData, encodeInt, intAt, smallIntAt, uintAt, wordCount } from './words.ts'

/** Ticks to each side of the price that are always read: a little over 20%. */
const REACH = 2000
/** To each side of where the price has been: a little over 2%. */
const SPAN_REACH = 210
/** Of where it has been, no more is read than this. */
const MOST_WORDS = 64

/**
 * Throws a RangeError when the contract's answer is not what such a pool answers. What is `known` of it is asked for in
 * the same round as the slot; what differs takes further rounds, and the result is the same.
 */
export async function loadPool(
  rpc: ChainRpc,
  pool: NewPool,
  block: BlockRef,
  signal: AbortSignal,
  known?: KnownTicks,
  span?: TickSpan,
): Promise<LoadedPool> {
  const birth = { createdBlock: null, createdMs: null, lastTradeMs: null }
  if (pool.fee.family === 'amm_v2') {
    const { state, changedMs } = await readPair(rpc, pool.address, block, signal)
    return { pool, ...birth, state, ticks: null, tradedByMs: changedMs }
  }
  const { tickSpacing } = pool.fee
  const ask = remembered(data => answered(rpc, pool.address, data, block, signal))
  // A failure is met again where the answer is needed.
  for (const data of known === undefined ? [] : likelyCalls(known, tickSpacing)) ask(data).catch(() => null)
  const state = await readV3(rpc, pool.address, block, signal)
  return { pool, ...birth, state, ticks: await readTicks(ask, state, tickSpacing, span) }
}

export async function recheckPool(
  rpc: ChainRpc,
  pool: { address: Address; family: 'amm_v2' | 'amm_v3' },
  block: BlockRef,
  signal: AbortSignal,
): Promise<RecheckedPool> {
  const read = pool.family === 'amm_v2' ? readV2 : readV3
  return { address: pool.address, state: await read(rpc, pool.address, block, signal) }
}

/** With the time of its last change, in whole seconds: it has traded no later than that. */
async function readPair(rpc: ChainRpc, pool: Address, block: BlockRef, signal: AbortSignal) {
  const reserves = await answered(rpc, pool, SELECTOR['getReserves()'], block, signal)
  const state: V2State = {
    family: 'amm_v2',
    reserve0: uintAt(reserves, 0),
    reserve1: uintAt(reserves, 1),
  }
  const changedMs = wordCount(reserves) < 3 ? null : ms(Number(uintAt(reserves, 2)) * 1000)
  return { state, changedMs }
}

async function readV2(rpc: ChainRpc, pool: Address, block: BlockRef, signal: AbortSignal): Promise<V2State> {
  return (await readPair(rpc, pool, block, signal)).state
}

async function readV3(rpc: ChainRpc, pool: Address, block: BlockRef, signal: AbortSignal): Promise<V3State> {
  const [slot, liquidity] = await Promise.all([
    answered(rpc, pool, SELECTOR['slot0()'], block, signal),
    answered(rpc, pool, SELECTOR['liquidity()'], block, signal),
  ])
  return {
    family: 'amm_v3',
    sqrtPriceX96: uintAt(slot, 0),
    tick: tick(smallIntAt(slot, 1)),
    liquidity: uintAt(liquidity, 0),
  }
}

async function readTicks(
  ask: (data: Hex) => Promise<Hex>,
  state: V3State,
  spacing: Tick,
  span?: TickSpan,
): Promise<LoadedPool['ticks']> {
  // Nobody can add liquidity before there is a price.
  if (state.sqrtPriceX96 === 0n) return { range: { lowest: MIN_TICK, highest: MAX_TICK }, entries: [] }
  const words = await Promise.all(
    wordsOver(state.tick, spacing, span).map(async position => ({
      position,
      bits: uintAt(await ask(wordCall(position)), 0),
    })),
  )
  const entries = await Promise.all(
    words
      .flatMap(word => tickBitmap.ticksOf(word, spacing))
      .map(async at => {
        const answer = await ask(tickCall(at))
        return { tick: at, gross: uintAt(answer, 0), net: intAt(answer, 1) }
      }),
  )
  return { range: rangeOfWords(spacing, words), entries }
}

/** What is asked for if the pool still is as it is known. */
function likelyCalls({ at, set }: KnownTicks, spacing: Tick): readonly Hex[] {
  const words = wordsAround(at, spacing)
  const isNear = (tick: number) => words.includes(BigInt(wordOf(tick, spacing)))
  return [...words.map(wordCall), ...set.filter(isNear).map(tickCall)]
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
const wordCall = (position: bigint): Hex => callData(SELECTOR['tickBitmap(int16)'], encodeInt(position))
const tickCall = (at: number): Hex => callData(SELECTOR['ticks(int24)'], encodeInt(BigInt(at)))

/** Each call once, whoever asks for it first. */
function remembered(ask: (data: Hex) => Promise<Hex>): (data: Hex) => Promise<Hex> {
  const asked = new Map<Hex, Promise<Hex>>()
  return data => {
    const before = asked.get(data) ?? ask(data)
    asked.set(data, before)
    return before
  }
}

async function answered(
  rpc: ChainRpc,
  to: Address,
  data: Hex,
  block: BlockRef,
  signal: AbortSignal,
): Promise<Hex> {
  const answer = await rpc.call(to, data, block.hash, signal)
  if (answer === null) throw new RangeError(`${to} does not answer ${data.slice(0, 10)}`)
  return answer
}
