/**
 * Swaps on the local chains at a pace: blocks at the same times on each of them, with as many swaps as the pace
 * requires. Trades are small, of random size and direction, so that prices move and no pool is emptied.
 */
import { setTimeout as pause } from 'node:timers/promises'
import {
  type ChainPlan,
  connect,
  DEV_ACCOUNT,
  familyOf,
  Random,
  traderAbi,
  type WorldChain,
} from '@assay/world'
import { encodeFunctionData, type Hex } from 'viem'
import { answerCalls } from './part.ts'

export type TradedChain = {
  readonly chainId: number
  readonly url: string
  readonly seeded: WorldChain['seeded']
}
export type Traded = { readonly swaps: number; readonly blocks: number; readonly seconds: number }

export type Trading = {
  readonly chains: readonly TradedChain[]
  /**
   * For each chain. Block times are whole seconds: a chain that makes more than one per second runs ahead of the
   * clock.
   */
  readonly blockMs: number
}

/** More than any swap of a batch uses, plus the cost of the batch itself. */
const GAS = { each: 180_000n, batch: 200_000n }
/** The local chains accept blocks of any size under load. */
const BLOCK_GAS = 4_000_000_000n
const SIZES_USD = [20, 35, 60, 110]
/** The rounding of amounts, below a token's own unit. */
const KEPT_DIGITS = 6
/** A node without a block by then is stuck. */
const BLOCK_PATIENCE_MS = 30_000
const LOOK_MS = 5

let swapsPerSecond = 0
let isOver = false
let count = { swaps: 0, blocks: 0, sinceMs: 0 }
let running: Promise<unknown> = Promise.resolve()

answerCalls({
  /** Begins with one swap a block. */
  start({ chains, blockMs }: Trading) {
    count = { swaps: 0, blocks: 0, sinceMs: performance.now() }
    const share = blockMs / 1000 / chains.length
    const each = chains.map((chain, at) => keepTrading(chain, blockMs, share, at * share * 1000))
    running = Promise.all(each)
    // Reported with the next call.
    running.catch(() => undefined)
  },
  setPace(perSecond: number) {
    swapsPerSecond = perSecond
  },
  /** The trades since the last call. */
  async take(): Promise<Traded> {
    await Promise.race([running, pause(0)])
    const { swaps, blocks, sinceMs } = count
    count = { swaps: 0, blocks: 0, sinceMs: performance.now() }
    return { swaps, blocks, seconds: (performance.now() - sinceMs) / 1000 }
  },
  async stop() {
    isOver = true
    await running
  },
})

async function keepTrading(
  { chainId, url, seeded }: TradedChain,
  blockMs: number,
  /** The share of a second's swaps in a block of this chain. */
  share: number,
  afterMs: number,
): Promise<void> {
  const client = connect(url)
  const random = new Random(chainId, 'load')
  const choices = seeded.pools.map(callsOf)
  await client.setBlockGasLimit({ gasLimit: BLOCK_GAS })
  await pause(afterMs)
  for (let dueMs = performance.now(); !isOver; ) {
    const height = await client.getBlockNumber()
    const swaps = Math.max(1, Math.round(swapsPerSecond * share))
    const gas = GAS.batch + GAS.each * BigInt(swaps)
    const calls = Array.from({ length: swaps }, () => random.pick(random.pick(choices)))
    const data = encodeFunctionData({ abi: traderAbi, functionName: 'batch', args: [calls] })
    const transaction = { from: DEV_ACCOUNT, to: seeded.trader, data, gas: `0x${gas.toString(16)}` }
    await client.request({ method: 'eth_sendTransaction', params: [transaction] } as never)
    const untilMs = performance.now() + BLOCK_PATIENCE_MS
    while ((await client.getBlockNumber()) <= height) {
      if (performance.now() > untilMs) throw new Error(`chain ${chainId} makes no block`)
      await pause(LOOK_MS)
    }
    count.swaps += swaps
    count.blocks += 1
    dueMs = Math.max(dueMs + blockMs, performance.now())
    await pause(Math.max(0, dueMs - performance.now()))
  }
}

/** In both directions and in every size. */
function callsOf(pool: WorldChain['seeded']['pools'][number]): readonly Hex[] {
  return [pool.token0, pool.token1].flatMap((sold, at) =>
    SIZES_USD.map(usd => familyOf(pool).sell(pool, at === 0, unitsOf(sold, usd))),
  )
}

function unitsOf({ decimals, usd: price }: ChainPlan['tokens'][number], usd: number): bigint {
  const kept = Math.min(decimals, KEPT_DIGITS)
  return BigInt(Math.round((usd / price) * 10 ** kept)) * 10n ** BigInt(decimals - kept)
}
