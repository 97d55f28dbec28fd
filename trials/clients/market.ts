/**
 * The contracts of the local world on a node without anvil's cheat codes: tokens, feeds, factories, a trader, pools and
 * trades, all made by ordinary transactions.
 */
import type { Hex } from 'viem'
import { type Client, connect, DEV_ACCOUNT } from '../../packages/world/client.ts'
import { v2PairAbi } from '../../packages/world/contracts/abi.ts'
import { deployPriceFeed, deployToken, deployTrader } from '../../packages/world/deploy.ts'
import type { ChainPlan, TokenPlan } from '../../packages/world/local/plan.ts'
import type { WorldPool } from '../../packages/world/local/families/family.ts'
import { makePool, setAnswer } from '../../packages/world/local/seeding.ts'
import { unitsOf } from '../../packages/world/local/valuation.ts'
import type { ServedChain } from '../../packages/world/local/worldConfig.ts'
import * as trader from '../../packages/world/trader.ts'
import { deployV2Factory } from '../../packages/world/v2.ts'
import { deployV3Factory } from '../../packages/world/v3.ts'

type Unplaced = Omit<TokenPlan, 'address'>
export type Trade = { readonly blockNumber: number; readonly blockHash: Hex }

/** Below the cap of 16,777,216 gas per transaction since Osaka (EIP-7825). */
const GAS = 12_000_000n
const V2_FEE = { numerator: 997n, denominator: 1000n }

const TOKENS: readonly Unplaced[] = [
  { symbol: 'USDC', decimals: 6, usd: 1, role: 'STABLE' },
  { symbol: 'USDT', decimals: 6, usd: 1, role: 'STABLE' },
  { symbol: 'WETH', decimals: 18, usd: 2000, role: 'ROUTING' },
  { symbol: 'LARK', decimals: 18, usd: 1.25, role: 'TOKEN' },
  { symbol: 'MOTH', decimals: 18, usd: 0.04, role: 'TOKEN' },
]
const POOLS: ChainPlan['pools'] = [
  { deployment: 'uniswap-v2', pair: ['USDC', 'WETH'], usd: 4_000_000 },
  { deployment: 'uniswap-v2', pair: ['USDC', 'LARK'], usd: 900_000 },
  { deployment: 'uniswap-v3', pair: ['WETH', 'LARK'], usd: 300_000, feePpm: 3000 },
  { deployment: 'uniswap-v2', pair: ['USDT', 'MOTH'], usd: 500_000 },
]

/**
 * A client that numbers its transactions itself. geth numbers those it signs by its pool, which lags for a moment
 * after a block: of many sent at once, two may get the same number.
 */
async function numbered(client: Client): Promise<Client> {
  let nonce = await client.getTransactionCount({ address: DEV_ACCOUNT })
  const sendTransaction: Client['sendTransaction'] = call =>
    client.sendTransaction({ ...call, nonce: nonce++ } as typeof call)
  return { ...client, sendTransaction }
}

export class Market {
  readonly chain: ServedChain
  readonly client: Client

  private constructor(client: Client, chain: ServedChain) {
    this.client = client
    this.chain = chain
  }

  static async open(name: string, url: string, wsUrl: string): Promise<Market> {
    const plain = connect(url)
    const client = await numbered(plain)
    const chainId = await client.getChainId()
    const { hash: genesisHash } = await client.getBlock({ blockNumber: 0n })
    // Independent deployments share one block.
    const [addresses, v2, v3, traderAddress, usdc, usdt] = await Promise.all([
      Promise.all(TOKENS.map(token => deployToken(client, token))),
      deployV2Factory(client, 'anywhere'),
      deployV3Factory(client, 'anywhere'),
      deployTrader(client),
      deployPriceFeed(client, { description: 'USDC / USD', decimals: 8 }),
      deployPriceFeed(client, { description: 'USDT / USD', decimals: 8 }),
    ])
    const plan: ChainPlan = {
      chainId,
      name,
      blockTimeS: 1,
      deployments: [
        { id: 'uniswap-v2', family: 'amm_v2', factory: v2.address },
        { id: 'uniswap-v3', family: 'amm_v3', factory: v3 },
      ],
      tokens: TOKENS.map((token, at) => ({ ...token, address: addresses[at] as Hex })),
      pools: POOLS,
    }
    const nowS = Number((await client.getBlock()).timestamp)
    const feeds = { USDC: usdc, USDT: usdt }
    await Promise.all([
      ...addresses.map(address => trader.fund(client, traderAddress, [address])),
      ...Object.values(feeds).map(feed => setAnswer(client, feed, 1, nowS)),
    ])
    const makers = { trader: traderAddress, gas: GAS }
    const pools = await Promise.all(POOLS.map(pool => makePool(client, plan, pool, makers)))
    const seeded = { trader: traderAddress, feeds, pools }
    return new Market(plain, { plan, url, wsUrl, genesisHash, seeded, life: { isLive: false } })
  }

  token(symbol: string): Hex {
    return this.#planned(symbol).address.toLowerCase() as Hex
  }

  pool(a: string, b: string): WorldPool {
    const found = this.chain.seeded.pools.find(
      ({ token0, token1 }) => [token0.symbol, token1.symbol].sort().join() === [a, b].sort().join(),
    )
    if (found === undefined) throw new Error(`no pool of ${a} and ${b}`)
    return found
  }

  /** Sells dollars of MOTH and of LARK in one transaction. */
  async trade(usd: number): Promise<Trade> {
    const [pair, pool] = [this.pool('USDT', 'MOTH'), this.pool('WETH', 'LARK')]
    const [moth, lark] = [this.#planned('MOTH'), this.#planned('LARK')]
    const outcomes = await trader.batch(
      this.client,
      this.chain.seeded.trader,
      [
        trader.swapExactInV2(pair.address, pair.token0 === moth, unitsOf(moth, usd), V2_FEE),
        trader.swapV3(pool.address, pool.token0 === lark, unitsOf(lark, usd)),
      ],
      GAS,
    )
    const [first] = outcomes
    for (const outcome of outcomes) if (!outcome.ok) throw new Error(`a trade failed: ${outcome.reason}`)
    const log = first?.ok === true ? first.logs[0] : undefined
    if (log === undefined || log.blockHash === null) throw new Error('a trade left no log')
    return { blockNumber: Number(log.blockNumber), blockHash: log.blockHash }
  }

  /** In wire format. */
  async reserves(): Promise<{ readonly reserve0: string; readonly reserve1: string }> {
    const [reserve0, reserve1] = await this.client.readContract({
      address: this.pool('USDT', 'MOTH').address,
      abi: v2PairAbi,
      functionName: 'getReserves',
    })
    return { reserve0: `${reserve0}`, reserve1: `${reserve1}` }
  }

  #planned(symbol: string): TokenPlan {
    const found = this.chain.plan.tokens.find(token => token.symbol === symbol)
    if (found === undefined) throw new Error(`no token ${symbol}`)
    return found
  }
}
