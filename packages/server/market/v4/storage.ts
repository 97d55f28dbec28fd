/**
 * Where a v4 manager stores a pool: slot 6 maps its id to a struct, which `extsload` returns word by word (StateLibrary
 * of v4-core). No other contract is called, so only the manager has to be known.
 */
import { type Tick, tick } from '@assay/engine'
import { keccak256 } from '../../ops/keccak.ts'
import type { Hex } from '../../ops/hex.ts'
import { encodeInt } from '../abiWords.ts'

const POOLS_SLOT = 6n
const LIQUIDITY = 3n
const TICKS = 4n
const TICK_BITMAP = 5n

const WORD = 256

export type Slot0 = {
  readonly sqrtPriceX96: bigint
  readonly tick: Tick
  readonly protocolFee: bigint
  readonly lpFeePpm: bigint
}

/** Storage slots of one pool, as words of a call. */
export type PoolSlots = {
  readonly slot0: string
  readonly liquidity: string
  word(position: bigint): string
  tick(at: number): string
}

export function slotsOf(id: Hex): PoolSlots {
  const base = BigInt(hashOf(id.slice(2), encodeInt(POOLS_SLOT)))
  return {
    slot0: encodeInt(base),
    liquidity: encodeInt(base + LIQUIDITY),
    word: position => hashOf(encodeInt(position), encodeInt(base + TICK_BITMAP)).slice(2),
    tick: at => hashOf(encodeInt(BigInt(at)), encodeInt(base + TICKS)).slice(2),
  }
}

/** From the lowest bit: 160 bits of price, then 24 each of tick, protocol fee and LP fee. */
export function slot0Of(word: bigint): Slot0 {
  return {
    sqrtPriceX96: BigInt.asUintN(160, word),
    tick: tick(Number(BigInt.asIntN(24, word >> 160n))),
    protocolFee: BigInt.asUintN(24, word >> 184n),
    lpFeePpm: BigInt.asUintN(24, word >> 208n),
  }
}

/** The first word of a tick: gross liquidity in the lower half, net in the upper. */
export function tickOf(word: bigint): { readonly gross: bigint; readonly net: bigint } {
  return { gross: BigInt.asUintN(WORD / 2, word), net: BigInt.asIntN(WORD / 2, word >> 128n) }
}

function hashOf(...words: readonly string[]): Hex {
  return `0x${keccak256(Buffer.from(words.join(''), 'hex')).toString('hex')}`
}
