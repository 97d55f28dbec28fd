/** A v3 pool with a fee of half of every trade: deep, cheap to hold at any price, and a trap. */
import { type Address, getAddress } from 'viem'
import { v3FactoryAbi } from '../contracts/abi.ts'
import * as trader from '../trader.ts'
import { createV3Pool, enableFeeAmount, initialiseV3Pool } from '../v3.ts'
import { liquidityWorth, priceOf, sqrtPriceX96, tickOf } from '../local/valuation.ts'
import type { Incident } from './incident.ts'
import { inOneBlock, tokenFor } from './scene.ts'

const FEE_PPM = 500_000
const SPACING = 60
/** The factor by which the pool's price exceeds the token's real value. */
const LIE = 3
const WIDTH = 6000
/** The value of one side in dollars: as deep as the deepest pools of the world. */
const USD = 20_000_000

export const trapFee: Incident = {
  name: 'trap-fee',
  about: `a deep new v3 pool with a fee of ${FEE_PPM / 10_000}% at ${LIE} times the price; it must not count`,
  async begin(chain, aim) {
    const { plan, client, traders } = chain
    const factory = plan.deployments.find(({ family }) => family === 'amm_v3')?.factory
    if (factory === undefined)
      throw new Error(`chain ${plan.chainId} has no v3 deployment: only those know fees by pool`)
    const token = tokenFor(chain, aim, 'a pool', (_, pools) => pools.length > 0)
    const stable = plan.tokens.find(({ role }) => role === 'STABLE')
    if (stable === undefined) throw new Error(`chain ${plan.chainId} has no stable`)
    if (!(await isEnabled())) await enableFeeAmount(client, factory, FEE_PPM, SPACING)
    const pair = [getAddress(stable.address), getAddress(token.address)] as const
    const pool = await createV3Pool(client, factory, pair, FEE_PPM)
    const lied = { ...token, usd: traders.fairUsd(token.symbol) * LIE }
    const isToken0 = pool.token0 === getAddress(token.address)
    const [token0, token1] = isToken0 ? [lied, stable] : [stable, lied]
    const price = priceOf(token0, token1)
    await initialiseV3Pool(client, pool, sqrtPriceX96(price))
    const centre = Math.round(tickOf(price) / SPACING) * SPACING
    const liquidity = liquidityWorth(token1, price, USD, WIDTH)
    await inOneBlock(chain, [trader.mintV3(pool.address, centre - WIDTH, centre + WIDTH, liquidity)])
    return {
      token: token.symbol,
      pools: [pool.address],
      what: `a pool of ${token.symbol} and ${stable.symbol} takes ${FEE_PPM / 10_000}% of every trade`,
    }

    async function isEnabled(): Promise<boolean> {
      const spacing = await client.readContract({
        address: factory as Address,
        abi: v3FactoryAbi,
        functionName: 'feeAmountTickSpacing',
        args: [FEE_PPM],
      })
      return spacing !== 0
    }
  },
}
