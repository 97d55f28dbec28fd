/**
 * The complete state of a pool at a block hash. For v3 that is the slot, the liquidity, and every bitmap word
 * and tick around the price, far enough for depth to be exact.
 */
import {
  type LoadedPool,
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
import { callData, encodeInt, intAt, smallIntAt, uintAt } from './words.ts'

/** Ticks to each side of the price that are always read: a little over 20%. */
const REACH = 2000

/** Throws a RangeError when the contract's answer is not what such a pool answers. */
export async function loadPool(
  rpc: ChainRpc,
  pool: NewPool,
  block: BlockRef,
  signal: AbortSignal,
): Promise<LoadedPool> {
  const birth = { createdBlock: null, createdMs: null, lastTradeMs: null }
  if (pool.fee.family === 'amm_v2')
    return { pool, ...birth, state: await readV2(rpc, pool.address, block, signal), ticks: null }
  const state = await readV3(rpc, pool.address, block, signal)
  return {
    pool,
    ...birth,
    state,
    ticks: await readTicks(rpc, pool.address, state, pool.fee.tickSpacing, block, signal),
  }
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

async function readV2(rpc: ChainRpc, pool: Address, block: BlockRef, signal: AbortSignal): Promise<V2State> {
  const reserves = await answered(rpc, pool, SELECTOR['getReserves()'], block, signal)
  return { family: 'amm_v2', reserve0: uintAt(reserves, 0), reserve1: uintAt(reserves, 1) }
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
  rpc: ChainRpc,
  pool: Address,
  state: V3State,
  spacing: Tick,
  block: BlockRef,
  signal: AbortSignal,
): Promise<LoadedPool['ticks']> {
  const wordOf = (at: number) => Math.floor(Math.floor(at / spacing) / 256)
  const [first, last] = [wordOf(state.tick - REACH), wordOf(state.tick + REACH)]
  const positions = Array.from({ length: last - first + 1 }, (_, at) => BigInt(first + at))
  const words = await Promise.all(
    positions.map(async position => {
      const bits = await answered(
        rpc,
        pool,
        callData(SELECTOR['tickBitmap(int16)'], encodeInt(position)),
        block,
        signal,
      )
      return { position, bits: uintAt(bits, 0) }
    }),
  )
  const marked = words.flatMap(word => tickBitmap.ticksOf(word, spacing))
  const entries = await Promise.all(
    marked.map(async at => {
      const answer = await answered(
        rpc,
        pool,
        callData(SELECTOR['ticks(int24)'], encodeInt(BigInt(at))),
        block,
        signal,
      )
      return { tick: at, gross: uintAt(answer, 0), net: intAt(answer, 1) }
    }),
  )
  return { range: rangeOfWords(spacing, words), entries }
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
