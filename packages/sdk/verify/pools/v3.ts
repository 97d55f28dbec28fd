/** A pool of Uniswap v3, or of a fork that kept its views and its look-up by fee tier. */
import { DEPTH_BOUNDARY, staticFee, tick } from '@assay/engine/rules'
import { word } from '../node.ts'
import { checkContract, lowerIsX } from './contract.ts'
import { type ChainFamily, known, type ShownFamily } from './family.ts'
import { heldSlot, readBook, shownSlot, slotNets } from './slot.ts'

const FEE = '0xddca3f43'
const GET_POOL = '0x1698ee82'
const SLOT0 = '0x3850c7bd'
const LIQUIDITY = '0x1a686502'
const TICK_SPACING = '0xd0c93a7c'
const SELECTORS = { word: '0x5339c296', tick: '0xf30dba93' } as const

/** Any pool that has ticks and tokens of its own. */
export const slotPool: ShownFamily = { holds: 'slot', x: lowerIsX, held: heldSlot }

/** The families differ only in the topic of a swap. */
function tiered<F extends string>(family: F, swapTopic: string): ChainFamily {
  const maths = staticFee(family)
  return {
    swapTopic,
    nets: slotNets,

    checkIdentity: (findings, node, hop, path, blockHash) =>
      checkContract(findings, node, hop, path, blockHash, async () => {
        const fee = (await node.call(hop.pool_address, FEE, blockHash)).uint(0)
        findings.same(`${path}.fee_ppm`, hop.fee_ppm, Number(fee), [`${path}.pool_address`])
        return [GET_POOL, word(fee)]
      }),

    async read(node, hop, blockHash) {
      const call = (data: string) => node.call(hop.pool_address, data, blockHash)
      const [slot, liquidity] = [await call(SLOT0), await call(LIQUIDITY)]
      const tickSpacing = tick(Number((await call(TICK_SPACING)).int(0)))
      const state = {
        family,
        sqrtPriceX96: slot.uint(0),
        tick: tick(Number(slot.int(1))),
        liquidity: liquidity.uint(0),
      }
      const book = await readBook(call, SELECTORS, tickSpacing, state.tick)
      const terms = { family, feePpm: BigInt(hop.fee_ppm), tickSpacing, book }
      return {
        shown: shownSlot(state),
        swapExactIn: (side, amountIn) =>
          known(maths.swapExactIn(terms, state, side, amountIn))?.amountOut ?? null,
        depth: x => known(maths.depth(terms, state, x, DEPTH_BOUNDARY)),
      }
    },
  }
}

export const v3AtNode = /* @__PURE__ */ tiered(
  'amm_v3',
  '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
)
export const pancakeAtNode = /* @__PURE__ */ tiered(
  'amm_v3_pancake',
  '0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83',
)
