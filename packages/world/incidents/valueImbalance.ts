/** A new pair that holds far too little of one side: deep, self-consistent and wrong. */
import { getAddress } from 'viem'
import { tokenOf } from '../local/plan.ts'
import { unitsOf } from '../local/valuation.ts'
import * as trader from '../trader.ts'
import { createV2Pair, V2_PAIR_INIT_CODE_HASH } from '../v2.ts'
import type { Incident } from './incident.ts'
import { inOneBlock, poolsOf, tokenFor } from './scene.ts'

/** The factor by which the pair's price exceeds the token's real value. */
const LIE = 20
/** The value of one side in dollars: as deep as the deepest pools of the world. */
const USD = 20_000_000

export const valueImbalance: Incident = {
  name: 'value-imbalance',
  about: `a deep new pair whose sides are worth 1 to ${LIE}; the pools there are must keep the price`,
  async begin(chain, aim) {
    const { plan, client, traders } = chain
    const v2 = plan.deployments.filter(({ family }) => family === 'amm_v2')
    const stables = plan.tokens.filter(({ role }) => role === 'STABLE')
    const free = (symbol: string) =>
      v2
        .flatMap(deployment => stables.map(stable => ({ deployment, stable })))
        .find(
          ({ deployment, stable }) =>
            !poolsOf(chain, symbol).some(
              pool =>
                pool.deployment === deployment.id &&
                [pool.token0.symbol, pool.token1.symbol].includes(stable.symbol),
            ),
        )
    const token = tokenFor(
      chain,
      aim,
      'several pools, and a pair with a stable still to be made',
      ({ symbol }, pools) => pools.length > 1 && free(symbol) !== undefined,
    )
    const place = free(token.symbol)
    if (place === undefined) throw new Error(`${token.symbol} has a pair with every stable`)
    const stable = tokenOf(plan, place.stable.symbol)
    const factory = { address: place.deployment.factory, pairInitCodeHash: V2_PAIR_INIT_CODE_HASH }
    const pair = [getAddress(stable.address), getAddress(token.address)] as const
    const { address, token0 } = await createV2Pair(client, factory, pair)
    const lied = { ...token, usd: traders.fairUsd(token.symbol) * LIE }
    const isToken0 = token0 === getAddress(token.address)
    const [amount0, amount1] = isToken0
      ? [unitsOf(lied, USD), unitsOf(stable, USD)]
      : [unitsOf(stable, USD), unitsOf(lied, USD)]
    await inOneBlock(chain, [trader.addV2(address, amount0, amount1)])
    return {
      token: token.symbol,
      pools: [address],
      what: `a pair of ${token.symbol} and ${stable.symbol} prices it at ${LIE} times its worth`,
    }
  },
}
