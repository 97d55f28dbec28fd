/** A pool read from the caller's node at one block, far enough around its price for depth to be exact. */
import {
  DEPTH_BOUNDARY,
  fromWords,
  type GrossDepth,
  tick,
  tickBitmap,
  v2,
  type V2State,
  type V2Terms,
  v3,
  type V3State,
  type V3Terms,
} from '@assay/engine/rules'
import type { Hop } from '../wire/route.ts'
import { type Node, word } from './node.ts'

const GET_RESERVES = '0x0902f1ac'
const SLOT0 = '0x3850c7bd'
const LIQUIDITY = '0x1a686502'
const TICK_SPACING = '0xd0c93a7c'
const TICK_BITMAP = '0x5339c296'
const TICKS = '0xf30dba93'
/** Ticks to each side of the price that are read: a little over 4%, twice the boundary of the depth. */
const REACH = 420
const PPM = 1_000_000n

export type PoolAtBlock = {
  /** In the words of the wire. */
  readonly shown: Readonly<Record<string, unknown>>
  /** Null where the ticks read do not reach. */
  swapExactIn(side: 0 | 1, amountIn: bigint): bigint | null
  depth(x: 0 | 1): GrossDepth | null
}

export async function readPool(node: Node, hop: Hop, blockHash: string): Promise<PoolAtBlock> {
  return hop.family === 'amm_v2' ? readPair(node, hop, blockHash) : readV3(node, hop, blockHash)
}

async function readPair(node: Node, hop: Hop, blockHash: string): Promise<PoolAtBlock> {
  const words = await node.call(hop.pool_address, GET_RESERVES, blockHash)
  const state: V2State = { family: 'amm_v2', reserve0: words.uint(0), reserve1: words.uint(1) }
  const terms: V2Terms = {
    family: 'amm_v2',
    fee: { numerator: PPM - BigInt(hop.fee_ppm), denominator: PPM },
  }
  return {
    shown: { reserve0: state.reserve0.toString(), reserve1: state.reserve1.toString() },
    swapExactIn: (side, amountIn) => known(v2.swapExactIn(terms, state, side, amountIn))?.amountOut ?? null,
    depth: x => known(v2.depth(terms, state, x, DEPTH_BOUNDARY)),
  }
}

async function readV3(node: Node, hop: Hop, blockHash: string): Promise<PoolAtBlock> {
  const call = (data: string) => node.call(hop.pool_address, data, blockHash)
  const [slot, liquidity, fee] = [await call(SLOT0), await call(LIQUIDITY), BigInt(hop.fee_ppm)]
  const spacing = tick(Number((await call(TICK_SPACING)).int(0)))
  const state: V3State = {
    family: 'amm_v3',
    sqrtPriceX96: slot.uint(0),
    tick: tick(Number(slot.int(1))),
    liquidity: liquidity.uint(0),
  }
  const wordOf = (at: number) => Math.floor(Math.floor(at / spacing) / 256)
  const [first, last] = [wordOf(state.tick - REACH), wordOf(state.tick + REACH)]
  const bits: tickBitmap.Word[] = []
  for (let position = first; position <= last; position++)
    bits.push({
      position: BigInt(position),
      bits: (await call(`${TICK_BITMAP}${word(BigInt(position))}`)).uint(0),
    })
  const entries = []
  for (const marked of bits.flatMap(each => tickBitmap.ticksOf(each, spacing))) {
    const answer = await call(`${TICKS}${word(BigInt(marked))}`)
    entries.push({ tick: marked, gross: answer.uint(0), net: answer.int(1) })
  }
  const terms: V3Terms = {
    family: 'amm_v3',
    feePpm: fee,
    tickSpacing: spacing,
    book: fromWords(spacing, bits, entries),
  }
  return {
    shown: {
      sqrt_price_x96: state.sqrtPriceX96.toString(),
      tick: state.tick,
      liquidity: state.liquidity.toString(),
    },
    swapExactIn: (side, amountIn) => known(v3.swapExactIn(terms, state, side, amountIn))?.amountOut ?? null,
    depth: x => known(v3.depth(terms, state, x, DEPTH_BOUNDARY)),
  }
}

const known = <Outcome extends object>(outcome: Outcome): Exclude<Outcome, { reason: string }> | null =>
  'reason' in outcome ? null : (outcome as Exclude<Outcome, { reason: string }>)
