/** A pool of a Uniswap v4 manager: its id is the hash of its key, and its state is in the manager's storage. */
import {
  DEPTH_BOUNDARY,
  fromWords,
  protocolFeeOf,
  swapFeeOf,
  tick,
  tickBitmap,
  v4 as hooked,
  type V4State,
  type V4Terms,
} from '@assay/engine/rules'
import type { Hop } from '../../wire/route.ts'
import type { PoolKey } from '../../wire/poolKey.ts'
import { keccak256 } from '../keccak.ts'
import { type Node, NodeError, word, type Words } from '../node.ts'
import { type ChainFamily, known, type ShownFamily } from './family.ts'
import { poolKeyHash } from './poolKey.ts'
import { heldSlot, shownSlot } from './slot.ts'

/** extsload(bytes32) */
const EXTSLOAD = '0x1e2eaeaf'
const SWAP_TOPIC = '0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f'
const POOLS_SLOT = 6n
const [LIQUIDITY, TICKS, TICK_BITMAP] = [3n, 4n, 5n]
/** The ticks read on each side of the price: a little over 4%, twice the boundary of the depth. */
const REACH = 420
const PROTOCOL_FEE_BITS = 12n

export const v4: ShownFamily = {
  holds: 'slot',
  // Currency 0 may be the native one, whose wrapped address does not determine the order.
  x: hop => (hop.pool_key?.currency1 === hop.from ? 1 : 0),

  held(findings, hop, path) {
    const side = v4.x(hop)
    const { slot } = hop
    if (slot?.lp_fee_ppm !== undefined) {
      const protocol = side === 0 ? slot.protocol_fee0_ppm : slot.protocol_fee1_ppm
      const packed = BigInt(protocol ?? 0) << (side === 0 ? 0n : PROTOCOL_FEE_BITS)
      const fee = swapFeeOf(packed, BigInt(slot.lp_fee_ppm), side)
      findings.same(`${path}.fee_ppm`, hop.fee_ppm, Number(fee), [`${path}.slot`])
    }
    const key = hop.pool_key
    if (key !== undefined) {
      const isFixed = key.fee !== DYNAMIC_FEE
      if (isFixed && slot !== undefined)
        findings.same(`${path}.slot.lp_fee_ppm`, slot.lp_fee_ppm, key.fee, [`${path}.pool_key.fee`])
      findings.same(`${path}.pool_id`, hop.pool_id, poolKeyHash(key), [`${path}.pool_key`])
    }
    return heldSlot(findings, hop, path)
  },
}

export const v4AtNode: ChainFamily = {
  swapTopic: SWAP_TOPIC,
  swaps: hop => ({ address: managerOf(hop), topics: [SWAP_TOPIC, hop.pool_id] }),
  nets: log => [-log.int(0), -log.int(1)],

  async checkIdentity(findings, node, hop, path, blockHash) {
    const key = keyOf(hop)
    findings.same(`${path}.pool_id`, hop.pool_id, poolKeyHash(key), [`${path}.pool_key`])
    const [other, own] = hop.from === key.currency1 ? [hop.to, hop.from] : [hop.from, hop.to]
    findings.same(`${path}.pool_key.currency1`, key.currency1, own, [`${path}.from`, `${path}.to`])
    findings.same(`${path}.is_native`, hop.is_native, key.currency0 === NATIVE, [
      `${path}.pool_key.currency0`,
    ])
    if (key.currency0 !== NATIVE)
      findings.same(`${path}.pool_key.currency0`, key.currency0, other, [`${path}.from`, `${path}.to`])
    const state = await readState(node, hop, blockHash)
    findings.holds(`${path}.pool_id`, hop.pool_id, state.sqrtPriceX96 > 0n, 'a pool that the manager has')
    return managerOf(hop)
  },

  async read(node, hop, blockHash) {
    const key = keyOf(hop)
    const stored = await readState(node, hop, blockHash)
    const state = key.fee === DYNAMIC_FEE ? { ...stored, lpFeePpm: lastFeeOf(hop, stored) } : stored
    const tickSpacing = tick(key.tick_spacing)
    const terms: V4Terms = {
      family: 'amm_v4',
      keyFee: BigInt(key.fee),
      tickSpacing,
      hooks: key.hooks,
      isNative: key.currency0 === NATIVE,
      manager: managerOf(hop),
      book: await readBook(node, hop, blockHash, state.tick),
    }
    return {
      shown: {
        ...shownSlot(state),
        lp_fee_ppm: Number(state.lpFeePpm),
        protocol_fee0_ppm: Number(protocolFeeOf(state.protocolFee, 0)),
        protocol_fee1_ppm: Number(protocolFeeOf(state.protocolFee, 1)),
      },
      swapExactIn: (side, amountIn) =>
        known(hooked.swapExactIn(terms, state, side, amountIn))?.amountOut ?? null,
      depth: x => known(hooked.depth(terms, state, x, DEPTH_BOUNDARY)),
    }
  },
}

const NATIVE = `0x${'0'.repeat(40)}`
const DYNAMIC_FEE = 0x800000

function keyOf({ pool_key }: Hop): PoolKey {
  if (pool_key === undefined) throw new NodeError('the hop shows no pool_key')
  return pool_key
}

function managerOf({ manager_address }: Hop): `0x${string}` {
  if (manager_address === undefined) throw new NodeError('the hop shows no manager_address')
  return manager_address
}

/** A hook may charge another fee than the manager stores, so the fee of the last swap is in no storage (R-hook-2). */
const lastFeeOf = ({ slot }: Hop, { lpFeePpm }: V4State): bigint =>
  slot?.lp_fee_ppm === undefined ? lpFeePpm : BigInt(slot.lp_fee_ppm)

const hashOf = (...words: readonly string[]): bigint => BigInt(keccak256(words.join('')))

const baseOf = ({ pool_id }: Hop): bigint => hashOf(pool_id.slice(2), word(POOLS_SLOT))

const load = (node: Node, hop: Hop, slot: bigint, blockHash: string): Promise<Words> =>
  node.call(managerOf(hop), `${EXTSLOAD}${word(slot)}`, blockHash)

async function readState(node: Node, hop: Hop, blockHash: string): Promise<V4State> {
  const base = baseOf(hop)
  const bits = (await load(node, hop, base, blockHash)).uint(0)
  const liquidity = (await load(node, hop, base + LIQUIDITY, blockHash)).uint(0)
  return {
    family: 'amm_v4',
    sqrtPriceX96: BigInt.asUintN(160, bits),
    tick: tick(Number(BigInt.asIntN(24, bits >> 160n))),
    liquidity,
    protocolFee: BigInt.asUintN(24, bits >> 184n),
    lpFeePpm: BigInt.asUintN(24, bits >> 208n),
  }
}

/** Reads the words and ticks around the price, one after the other. */
async function readBook(node: Node, hop: Hop, blockHash: string, at: number) {
  const base = baseOf(hop)
  const spacing = tick(keyOf(hop).tick_spacing)
  const wordOf = (each: number) => Math.floor(Math.floor(each / spacing) / 256)
  const bits: tickBitmap.Word[] = []
  for (let position = wordOf(at - REACH); position <= wordOf(at + REACH); position++) {
    const slot = hashOf(word(BigInt(position)), word(base + TICK_BITMAP))
    bits.push({ position: BigInt(position), bits: (await load(node, hop, slot, blockHash)).uint(0) })
  }
  const entries = []
  for (const marked of bits.flatMap(each => tickBitmap.ticksOf(each, spacing))) {
    const info = (await load(node, hop, hashOf(word(BigInt(marked)), word(base + TICKS)), blockHash)).uint(0)
    entries.push({ tick: marked, gross: BigInt.asUintN(128, info), net: BigInt.asIntN(128, info >> 128n) })
  }
  return fromWords(spacing, bits, entries)
}
