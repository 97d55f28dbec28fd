/**
 * What an attack's token does to those who hold it, on the chain: a tax, a trap, balances that grow, decimals that change.
 * An odd token spares the trader, which fills its pools, so a sale is tried by somebody it does not know.
 */
import {
  deployImplementation,
  deployTrader,
  introduce,
  rebase,
  send,
  testTokenAbi,
  type TokenOptions,
  tokenProxyAbi,
} from '@assay/world'
import { encodeFunctionData } from 'viem'
import type { Hex, TestChain } from '../testChain.ts'

/** The balance of the outside account: more than any sale. */
const PLENTY = 1n << 200n

export class TokenActs {
  readonly #chain: TestChain
  readonly #options: ReadonlyMap<string, TokenOptions>
  readonly #said = new Map<string, number>()
  #outsider: Promise<Hex> | null = null

  constructor(chain: TestChain, options: ReadonlyMap<string, TokenOptions>) {
    this.#chain = chain
    this.#options = options
  }

  isOdd(symbol: string): boolean {
    return this.#chain.world.plan.tokens.some(token => token.symbol === symbol && token.odd !== undefined)
  }

  /** Of a sale by anybody but the trader; null where none is possible. */
  saleTaxBps(symbol: string): bigint | null {
    const { sellTaxBps = 0 } = this.#options.get(symbol) ?? {}
    return sellTaxBps === null ? null : BigInt(sellTaxBps)
  }

  /** It has a pool, which it is to know as one. */
  async listed(symbol: string, pool: Hex): Promise<void> {
    if (!this.isOdd(symbol)) return
    const { client, seeded } = this.#chain.world
    await introduce(client, this.#chain.token(symbol), { pools: [pool], exempt: [seeded.trader] })
  }

  /** From now on it rebases: all its balances change at once, and no pair is notified. */
  async asked(symbol: string): Promise<void> {
    const times = this.#options.get(symbol)?.heldTimes ?? 1
    if (times !== 1) await rebase(this.#chain.world.client, this.#chain.token(symbol), times)
  }

  /** Whether that is news: replaces the code behind its proxy. */
  async says(symbol: string, decimals: number): Promise<boolean> {
    if (this.#said.get(symbol) === decimals) return false
    this.#said.set(symbol, decimals)
    const { client } = this.#chain.world
    const args = [await deployImplementation(client, decimals)] as const
    const data = encodeFunctionData({ abi: tokenProxyAbi, functionName: 'upgradeTo', args })
    await send(client, { to: this.#chain.token(symbol), data })
    return true
  }

  /** Who tries a sale of it. */
  async seller(symbol: string): Promise<Hex> {
    if (!this.isOdd(symbol)) return this.#chain.world.seeded.trader
    this.#outsider ??= deployTrader(this.#chain.world.client)
    const outsider = await this.#outsider
    const data = encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args: [outsider, PLENTY] })
    await send(this.#chain.world.client, { to: this.#chain.token(symbol), data })
    return outsider
  }
}
