/** A pool of Algebra v1: one per pair, with its fee in its state. */
import { algebra as maths, DEPTH_BOUNDARY, tick } from '@assay/engine/rules'
import { checkContract } from './contract.ts'
import { type ChainFamily, known } from './family.ts'
import { readBook, shownSlot, slotNets } from './slot.ts'

const POOL_BY_PAIR = '0xd9a641e1'
const GLOBAL_STATE = '0xe76c01e4'
const LIQUIDITY = '0x1a686502'
const TICK_SPACING = '0xd0c93a7c'
const SELECTORS = { word: '0xc677e3e0', tick: '0xf30dba93' } as const

export const algebraAtNode: ChainFamily = {
  swapTopic: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
  nets: slotNets,

  checkIdentity: (findings, node, hop, path, blockHash) =>
    checkContract(findings, node, hop, path, blockHash, async () => {
      const fee = (await node.call(hop.pool_address, GLOBAL_STATE, blockHash)).uint(2)
      findings.same(`${path}.fee_ppm`, hop.fee_ppm, Number(fee), [`${path}.pool_address`])
      return [POOL_BY_PAIR, '']
    }),

  async read(node, hop, blockHash) {
    const call = (data: string) => node.call(hop.pool_address, data, blockHash)
    const [slot, liquidity] = [await call(GLOBAL_STATE), await call(LIQUIDITY)]
    const tickSpacing = tick(Number((await call(TICK_SPACING)).int(0)))
    const state = {
      family: 'amm_algebra_v1',
      sqrtPriceX96: slot.uint(0),
      tick: tick(Number(slot.int(1))),
      liquidity: liquidity.uint(0),
      feePpm: slot.uint(2),
    } as const
    const book = await readBook(call, SELECTORS, tickSpacing, state.tick)
    const terms = { family: 'amm_algebra_v1', tickSpacing, book } as const
    return {
      shown: shownSlot(state),
      swapExactIn: (side, amountIn) =>
        known(maths.swapExactIn(terms, state, side, amountIn))?.amountOut ?? null,
      depth: x => known(maths.depth(terms, state, x, DEPTH_BOUNDARY)),
    }
  },
}
