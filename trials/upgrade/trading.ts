/**
 * Continuous trades, one block per second, with reorganisations on request; and the swaps that are on the chain in
 * the end.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { toEventSelector } from 'viem'
import type { TestChain } from '../../packages/server/endToEnd/testing/testChain.ts'

/** Block times are whole seconds: a faster chain would run ahead of the clock. */
const BLOCK_MS = 1000
const IDLE_MS = 10
const SWAPS = [
  toEventSelector('Swap(address,uint256,uint256,uint256,uint256,address)'),
  toEventSelector('Swap(address,address,int256,int256,uint160,uint128,int24)'),
]

export class Trading {
  readonly #chain: TestChain
  /** Swaps up to this block are not ours. */
  readonly #from: number
  readonly #running: Promise<void>
  #isDone = false
  #isPaused = false
  #isIdle = false

  private constructor(chain: TestChain, from: number) {
    this.#chain = chain
    this.#from = from
    this.#running = this.#trade().finally(() => {
      this.#isDone = true
    })
    // Reported by `close`.
    this.#running.catch(() => undefined)
  }

  static async start(chain: TestChain): Promise<Trading> {
    return new Trading(chain, (await chain.head()).number)
  }

  /** The chain pauses while `task` runs. */
  async paused<Value>(task: () => Promise<Value>): Promise<Value> {
    this.#isPaused = true
    while (!this.#isIdle && !this.#isDone) await pause(IDLE_MS)
    try {
      return await task()
    } finally {
      this.#isPaused = false
      this.#isIdle = false
    }
  }

  /** Replaces the last blocks with the same number of others, plus one. */
  reorganise(depth: number): Promise<void> {
    return this.paused(async () => {
      await this.#chain.reorg(depth)
      await this.#chain.mineNow()
    })
  }

  /** Every swap on the present chain, by its block and its position in it. */
  async swaps(): Promise<readonly string[]> {
    const params = [{ fromBlock: `0x${(this.#from + 1).toString(16)}`, toBlock: 'latest', topics: [SWAPS] }]
    const logs = await this.#chain.rpc<{ blockHash: string; logIndex: string }[]>('eth_getLogs', ...params)
    return logs.map(({ blockHash, logIndex }) => `${blockHash} ${Number(logIndex)}`)
  }

  /** Fails with the error that ended it early. */
  async close(): Promise<void> {
    this.#isDone = true
    await this.#running
  }

  async #trade(): Promise<void> {
    const chain = this.#chain
    const moth = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    const lark = chain.pool('uniswap-v3', 'WETH', 'LARK')
    for (let at = 0; !this.#isDone; at++) {
      // In both directions, so that prices move without drifting.
      const [one, other] = at % 2 === 0 ? (['MOTH', 'LARK'] as const) : (['USDT', 'WETH'] as const)
      const usd = 200 + (at % 7)
      await chain.run(
        chain.sellV2(moth, one, usd),
        chain.sellV3(lark, other, usd),
        chain.sellV2(moth, one, usd / 2),
      )
      const nextMs = performance.now() + BLOCK_MS
      while (!this.#isDone && (this.#isPaused || performance.now() < nextMs)) {
        this.#isIdle = this.#isPaused
        await pause(IDLE_MS)
      }
    }
  }
}
