/** Pairs of Uniswap v2 and its relatives: x·y = k, and a trade takes only amounts. */
import { getAddress, type Hex } from 'viem'
import { v2PairAbi } from '../../contracts/abi.ts'
import * as trader from '../../trader.ts'
import { createV2Pair, deployV2Factory, V2_FACTORY_ORIGIN, V2_PAIR_INIT_CODE_HASH } from '../../v2.ts'
import { unitsOf } from '../valuation.ts'
import type { PoolPrice, WorldFamily, WorldPool } from './family.ts'

const FEE = { numerator: 997n, denominator: 1000n }
const FEE_SHARE = 0.003
/** The contract of chain 1, whose address follows from its creator. */
const ORIGINAL = '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f'

export const pairs: WorldFamily = {
  async deploy(client, { factory }) {
    await deployV2Factory(client, factory === ORIGINAL ? V2_FACTORY_ORIGIN : factory)
  },

  async make({ client, deployment, pool, tokens: [token0, token1], trader: account, gas }) {
    const factory = { address: deployment.factory, pairInitCodeHash: V2_PAIR_INIT_CODE_HASH }
    const pair = [getAddress(token0.address), getAddress(token1.address)] as const
    const { address } = await createV2Pair(client, factory, pair)
    const filled = trader.addV2(address, unitsOf(token0, pool.usd), unitsOf(token1, pool.usd))
    await trader.batch(client, account, [filled], gas)
    return { address, family: deployment.family, deployment: deployment.id, token0, token1, bands: [] }
  },

  async readPrice(client, { address }) {
    const functionName = 'getReserves'
    const [reserve0, reserve1] = await client.readContract({ address, abi: v2PairAbi, functionName })
    return { kind: 'reserves', reserve0, reserve1 }
  },

  /** To reach the price p, the reserve of token0 becomes √(k/p). */
  moveTo(pool, from, target, share = 1) {
    const { reserve0, reserve1 } = reservesOf(from)
    const [x, y] = [Number(reserve0), Number(reserve1)]
    if (x === 0 || y === 0) return null
    const isSale = y / x > target
    const amount = (isSale ? Math.sqrt((x * y) / target) - x : Math.sqrt(x * y * target) - y) * share
    const amountIn = BigInt(Math.floor(Math.max(0, amount)))
    return amountIn === 0n ? null : sell(pool, isSale, amountIn)
  },

  /** Sells exactly the amount that was bought. */
  thereAndBack(pool, from, target) {
    const { reserve0, reserve1 } = reservesOf(from)
    const factor = target / (Number(reserve1) / Number(reserve0))
    const isSale = factor < 1
    const [reserveIn, reserveOut] = isSale ? [reserve0, reserve1] : [reserve1, reserve0]
    const amountIn = BigInt(Math.floor(Number(reserveIn) * (Math.sqrt(isSale ? 1 / factor : factor) - 1)))
    const traded = amountIn * FEE.numerator
    const bought = (traded * reserveOut) / (reserveIn * FEE.denominator + traded)
    return [sell(pool, isSale, amountIn), sell(pool, !isSale, bought)]
  },

  sell,

  async pull(client, account, { address }, tenThousandths) {
    const args = [account] as const
    const owned = await client.readContract({ address, abi: v2PairAbi, functionName: 'balanceOf', args })
    return [trader.removeV2(address, (owned * tenThousandths) / 10_000n)]
  },

  moveAside: null,
  /** The fee keeps a trader short of the fair price by roughly its own size. */
  trading: { worthIt: 0.0008 + FEE_SHARE, outOfReach: Number.POSITIVE_INFINITY, share: 0.7 },
  config: () => ({ fee: { numerator: 997, denominator: 1000 }, init_code_hash: V2_PAIR_INIT_CODE_HASH }),
}

function sell({ address }: WorldPool, isToken0: boolean, amount: bigint): Hex {
  return trader.swapExactInV2(address, isToken0, amount, FEE)
}

function reservesOf(price: PoolPrice) {
  if (price.kind !== 'reserves') throw new Error('a pair has reserves')
  return price
}
