/** A pair: everything about it follows from its reserves. */
import { DEPTH_BOUNDARY, v2 as pair, type V2State, type V2Terms } from '@assay/engine/rules'
import type { Hop } from '../../wire/route.ts'
import { checkContract, lowerIsX } from './contract.ts'
import { type ChainFamily, known, type Priced, type ShownFamily } from './family.ts'

const GET_RESERVES = '0x0902f1ac'
const GET_PAIR = '0xe6a43905'
const PPM = 1_000_000n

export const v2: ShownFamily = {
  holds: 'reserves',
  x: lowerIsX,

  held(findings, hop, path) {
    const own = `${path}.reserves`
    if (hop.reserves === undefined)
      return findings.unreadable(own, null, 'the reserves of a pair', [`${path}.family`])
    const reserve0 = findings.positive(`${own}.reserve0`, hop.reserves.reserve0)
    const reserve1 = findings.positive(`${own}.reserve1`, hop.reserves.reserve1)
    const fee = BigInt(findings.integer(`${path}.fee_ppm`, hop.fee_ppm))
    if (fee >= PPM) return findings.unreadable(`${path}.fee_ppm`, hop.fee_ppm, 'less than the whole')
    const state: V2State = { family: 'amm_v2', reserve0, reserve1 }
    return {
      marginal: pair.marginal(state),
      from: [`${own}.reserve0`, `${own}.reserve1`],
      priced: pricedAt(hop, state),
    }
  },
}

export const v2AtNode: ChainFamily = {
  swapTopic: '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  nets: log => [log.uint(0) - log.uint(2), log.uint(1) - log.uint(3)],

  checkIdentity: (findings, node, hop, path, blockHash) =>
    checkContract(findings, node, hop, path, blockHash, async () => [GET_PAIR, '']),

  async read(node, hop, blockHash) {
    const words = await node.call(hop.pool_address, GET_RESERVES, blockHash)
    const state: V2State = { family: 'amm_v2', reserve0: words.uint(0), reserve1: words.uint(1) }
    return {
      shown: { reserve0: state.reserve0.toString(), reserve1: state.reserve1.toString() },
      ...pricedAt(hop, state),
    }
  },
}

function pricedAt({ fee_ppm }: Hop, state: V2State): Priced {
  const terms: V2Terms = {
    family: 'amm_v2',
    fee: { numerator: PPM - BigInt(fee_ppm), denominator: PPM },
  }
  return {
    swapExactIn: (side, amountIn) => known(pair.swapExactIn(terms, state, side, amountIn))?.amountOut ?? null,
    depth: x => known(pair.depth(terms, state, x, DEPTH_BOUNDARY)),
  }
}
