/**
 * One anvil node with real contracts that moves only when a test moves it: a transaction is a block. Its verbs
 * are what happens to a market: trades, liquidity that comes and goes, answers of a feed, forks.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ChainPlan,
  createV2Pair,
  DEV_ACCOUNT,
  sendDeposit,
  startWorld,
  trader,
  traderAbi,
  V2_PAIR_INIT_CODE_HASH,
  v2FactoryAbi,
  v2PairAbi,
  v2PairAddress,
  v3PoolAbi,
  type WorldChain,
  type WorldOptions,
} from '@assay/world'
import { encodeFunctionData, getAddress } from 'viem'
import { planWith } from './plan.ts'
import { until } from './until.ts'

export type Hex = `0x${string}`
export type Block = { readonly number: number; readonly hash: Hex; readonly parentHash: Hex }

const GAS = 25_000_000n
/** `finalized` is two epochs below the head: eight blocks, which a test mines in no time. */
const SLOTS = 4
const V2_FEE = { numerator: 997n, denominator: 1000n }
/** Between two blocks of a chain that is waited on. */
const PACE_MS = 500
/** What amounts are rounded to, below a token's own unit. */
const KEPT_DIGITS = 6

export async function startTestChain(
  plan: ChainPlan = planWith(),
  options: Pick<WorldOptions, 'clock' | 'slotsInAnEpoch' | 'keptBlocks' | 'profile' | 'stateEveryS'> = {},
): Promise<TestChain> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-service-'))
  const world = await startWorld({ folder, plans: [plan], isLive: false, slotsInAnEpoch: SLOTS, ...options })
  return new TestChain(world.chains[0] as WorldChain, folder, async () => {
    await world.close()
    rmSync(folder, { recursive: true, force: true })
  })
}

export class TestChain {
  readonly world: WorldChain
  /** For databases and configurations of this test; gone with the chain. */
  readonly folder: string
  readonly close: () => Promise<void>
  /** token0 of pools made by this test. */
  readonly #made = new Map<Hex, Hex>()

  constructor(world: WorldChain, folder: string, close: () => Promise<void>) {
    this.world = world
    this.folder = folder
    this.close = close
  }

  token(symbol: string): Hex {
    return this.#tokenPlan(symbol).address.toLowerCase() as Hex
  }

  /** The pool of a pair at a deployment. */
  pool(deployment: string, a: string, b: string): Hex {
    const found = this.world.seeded.pools.find(
      pool =>
        pool.deployment === deployment &&
        [pool.token0.symbol, pool.token1.symbol].sort().join() === [a, b].sort().join(),
    )
    if (found === undefined) throw new Error(`the plan has no ${a}/${b} at ${deployment}`)
    return found.address.toLowerCase() as Hex
  }

  /** Atomic units worth `usd` at the plan's price. */
  units(symbol: string, usd: number): bigint {
    const { decimals, usd: price } = this.#tokenPlan(symbol)
    const kept = Math.min(decimals, KEPT_DIGITS)
    return BigInt(Math.round((usd / price) * 10 ** kept)) * 10n ** BigInt(decimals - kept)
  }

  /** A new pair in a block of its own, still empty. */
  async createV2(deployment: string, a: string, b: string): Promise<Hex> {
    const tokens = [getAddress(this.token(a)), getAddress(this.token(b))] as const
    const factory = { address: this.#factory(deployment), pairInitCodeHash: V2_PAIR_INIT_CODE_HASH }
    await createV2Pair(this.world.client, factory, tokens)
    return this.pairOf(deployment, a, b)
  }

  /** Fills a pair with dollars of both its tokens, as a call for `run`. */
  fillV2(pair: Hex, a: string, b: string, usd: number): Hex {
    const [symbol0, symbol1] = this.token(a) < this.token(b) ? [a, b] : [b, a]
    return trader.addV2(pair, this.units(symbol0, usd), this.units(symbol1, usd))
  }

  /** As the wire writes them. */
  async reserves(pair: Hex): Promise<{ readonly reserve0: string; readonly reserve1: string }> {
    const [reserve0, reserve1] = await this.world.client.readContract({
      address: pair,
      abi: v2PairAbi,
      functionName: 'getReserves',
    })
    return { reserve0: reserve0.toString(), reserve1: reserve1.toString() }
  }

  /** Sells dollars of a token into a pair, as a call for `run`. */
  sellV2(pair: Hex, symbol: string, usd: number): Hex {
    return trader.swapExactInV2(pair, this.#isToken0(pair, symbol), this.units(symbol, usd), V2_FEE)
  }

  sellV3(pool: Hex, symbol: string, usd: number): Hex {
    return trader.swapV3(pool, this.#isToken0(pool, symbol), this.units(symbol, usd))
  }

  /** Takes out a share of a pair's liquidity, in thousandths: reserves fall, the price stays. */
  async pullV2(pair: Hex, thousandths: bigint): Promise<Hex> {
    const owned = await this.world.client.readContract({
      address: pair,
      abi: v2PairAbi,
      functionName: 'balanceOf',
      args: [this.world.seeded.trader],
    })
    return trader.removeV2(pair, (owned * thousandths) / 1000n)
  }

  /** Burns a share of every position of a v3 pool, in thousandths, as calls for `run`. */
  async pullV3(pool: Hex, thousandths: bigint): Promise<Hex[]> {
    const minted = await this.world.client.getContractEvents({
      address: pool,
      abi: v3PoolAbi,
      eventName: 'Mint',
      fromBlock: 0n,
      strict: true,
    })
    return minted.map(({ args }) =>
      trader.burnV3(pool, args.tickLower, args.tickUpper, (args.amount * thousandths) / 1000n),
    )
  }

  /** All calls in one transaction, hence in one block; every one must succeed. */
  async run(...calls: readonly Hex[]): Promise<Block> {
    const outcomes = await trader.batch(this.world.client, this.world.seeded.trader, calls, GAS)
    for (const outcome of outcomes) if (!outcome.ok) throw new Error(`a call failed: ${outcome.reason}`)
    return this.head()
  }

  /** The same by a transaction from the parent chain, on one of the OP stack. */
  async runByDeposit(...calls: readonly Hex[]): Promise<Block> {
    const { client, seeded } = this.world
    const outcomes = await trader.batch(client, seeded.trader, calls, GAS, sendDeposit)
    for (const outcome of outcomes) if (!outcome.ok) throw new Error(`a call failed: ${outcome.reason}`)
    return this.head()
  }

  async mine(blocks = 1): Promise<Block> {
    await this.world.client.mine({ blocks })
    return this.head()
  }

  /** A block of this moment: a reorganisation takes the node's clock back to where it forked, and it continues from there. */
  async mineNow(): Promise<Block> {
    const { client } = this.world
    const now = BigInt(Math.floor(Date.now() / 1000))
    const { timestamp } = await client.getBlock({ blockTag: 'latest' })
    if (now > timestamp) await client.setNextBlockTimestamp({ timestamp: now })
    return this.mine()
  }

  /**
   * Waits on a running chain: a feed that fell behind, as on a busy machine, is healthy again only after some
   * blocks of its time, and publishes no price before.
   */
  async untilMining<Value>(
    what: string,
    look: () => Promise<Value | null | undefined | false>,
    patienceMs?: number,
  ): Promise<Value> {
    let minedAtMs = performance.now()
    const lookAndMine = async () => {
      const seen = await look()
      if (performance.now() - minedAtMs > PACE_MS) {
        await this.mineNow()
        minedAtMs = performance.now()
      }
      return seen
    }
    return until(what, lookAndMine, patienceMs)
  }

  async head(): Promise<Block> {
    const { number, hash, parentHash } = await this.world.client.getBlock({ blockTag: 'latest' })
    return { number: Number(number), hash, parentHash }
  }

  /** Replaces the last blocks by as many empty ones. */
  async reorg(depth: number): Promise<Block> {
    await this.rpc('anvil_reorg', depth, [])
    return this.head()
  }

  /** Replaces the last blocks by as many, with these calls in them: the whole branch appears at once. */
  async reorgWith(
    depth: number,
    calls: readonly { readonly block: number; readonly to: Hex; readonly data: Hex }[],
  ): Promise<Block> {
    const transactions = calls.map(({ block, to, data }) => [
      { from: DEV_ACCOUNT, to, data, gas: `0x${GAS.toString(16)}` },
      block,
    ])
    await this.rpc('anvil_reorg', depth, transactions)
    return this.head()
  }

  /** What makes a pair, for `reorgWith`. */
  creationV2(deployment: string, a: string, b: string): { readonly to: Hex; readonly data: Hex } {
    const args = [this.token(a), this.token(b)] as const
    return {
      to: this.#factory(deployment),
      data: encodeFunctionData({ abi: v2FactoryAbi, functionName: 'createPair', args }),
    }
  }

  /** The address a pair will have. */
  pairOf(deployment: string, a: string, b: string): Hex {
    const factory = { address: this.#factory(deployment), pairInitCodeHash: V2_PAIR_INIT_CODE_HASH }
    const [token0, token1] = [this.token(a), this.token(b)].sort() as [Hex, Hex]
    const address = v2PairAddress(factory, token0, token1).toLowerCase() as Hex
    this.#made.set(address, token0)
    return address
  }

  /** Calls of the trader as one transaction, for `reorgWith`. */
  batch(...calls: readonly Hex[]): { readonly to: Hex; readonly data: Hex } {
    const data = encodeFunctionData({ abi: traderAbi, functionName: 'batch', args: [calls] })
    return { to: this.world.seeded.trader, data }
  }

  snapshot(): Promise<Hex> {
    return this.world.client.snapshot()
  }

  /** Back to the snapshot, as if nothing had come after it; but for the time, which a node would take back with it. */
  async revert(id: Hex): Promise<Block> {
    const { client } = this.world
    const { timestamp } = await client.getBlock({ blockTag: 'latest' })
    await client.revert({ id })
    await client.setNextBlockTimestamp({ timestamp: timestamp + 1n })
    return this.head()
  }

  rpc<Result = unknown>(method: string, ...params: readonly unknown[]): Promise<Result> {
    return this.world.client.request({ method, params } as never)
  }

  #factory(deployment: string): Hex {
    const found = this.world.plan.deployments.find(each => each.id === deployment)
    if (found === undefined) throw new Error(`the plan has no deployment ${deployment}`)
    return found.factory
  }

  #tokenPlan(symbol: string) {
    const found = this.world.plan.tokens.find(each => each.symbol === symbol)
    if (found === undefined) throw new Error(`the plan has no ${symbol}`)
    return found
  }

  #isToken0(pool: Hex, symbol: string): boolean {
    const found = this.world.seeded.pools.find(each => each.address.toLowerCase() === pool)
    return (found?.token0.address ?? this.#made.get(pool))?.toLowerCase() === this.token(symbol)
  }
}
