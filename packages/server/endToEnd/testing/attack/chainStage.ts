/**
 * The stage on real contracts, with the whole service behind it: a block is one transaction of the trader, in the order
 * of the moves. The chain begins as long ago as the attack takes, so that its last block is of this moment; only then is
 * the service healthy, and only the last look is taken.
 */
import {
  type Band,
  claimPool,
  createV2Pair,
  deployV2Factory,
  type Look,
  type LookOptions,
  type PoolSpec,
  type Position,
  sizes,
  type Stage,
  trader,
  v2PairAbi,
} from '@assay/world'
import { getAddress } from 'viem'
import { CHAIN_ID } from '../plan.ts'
import type { Hex, TestChain } from '../testChain.ts'
import { startTestService, type TestService } from '../testService.ts'
import { BLOCK_S } from './rehearsal.ts'
import * as pools from './pool.ts'
import { AGE_S } from './rehearsal.ts'
import { bestOf, type Offer, offersOf, type Paid, paid } from './sale.ts'
import { TokenActs } from './tokenActs.ts'
import { seenOf } from './seen.ts'

export const GAS = 55_000_000n
/** Dollars that count as a trade. */
const LEAST_TRADE = 15
/** How often the feeds of the stables repeat their answer: well within their heartbeat. */
const ANSWER_S = 1800
/** A service that is further behind starts again at the head, and would only know what its look-back finds. */
const AHEAD = 32
/** Rounds until a service that fell behind is healthy: its feed needs some blocks and seconds. */
const MOST_ROUNDS = 200

/** A move, or a question whose answer is read from the block. */
type Step = { readonly call: Hex; readonly ask?: Offer }

export class ChainStage implements Stage {
  readonly looks: Look[] = []
  readonly #chain: TestChain
  readonly #time: { nowS: number }
  readonly #tokens: TokenActs
  #service: TestService | null = null
  readonly #pools = new Map<string, pools.Pool>()
  readonly #worth = new Map<string, number>()
  #steps: Step[] = []
  /** Pools that are to be old by the next block. */
  #young: string[] = []
  #made = 0
  #hasAnchors = false
  #isMarked = false
  #sellerUsd: number | null = null
  /** What the attacker does in every block, for as long as the service needs. */
  #round: ((n: number) => Promise<void>) | null = null
  #isCatchingUp = false
  /** The chain is at this moment, and its blocks come as it passes. */
  #isLive = false
  #looksLeft: number
  #blocksSince = 0
  #answeredS = 0
  /** Blocks so far: the service is waited for every so many of them. */
  #ahead = 0

  constructor(chain: TestChain, time: { nowS: number }, tokens: TokenActs, looks: number) {
    this.#chain = chain
    this.#time = time
    this.#tokens = tokens
    this.#looksLeft = looks
  }

  async close(): Promise<void> {
    await this.#service?.close()
    await this.#chain.close()
  }

  token(): void {}

  async pool(name: string, spec: PoolSpec): Promise<void> {
    const of = { ...this.#asset(spec.of), usd: spec.price ?? this.#asset(spec.of).usd }
    const pool = await pools.create(this.#chain, spec, of, this.#asset(spec.with ?? 'USDC'))
    this.#pools.set(name, pool)
    await this.#tokens.listed(spec.of, pool.address)
    this.#do(pools.add(pool, spec.depth, ++this.#made))
    await this.#follow()
    // It was there before, so it is filled at once; a new one is filled in the block that follows.
    if (spec.isNew === true) return
    await this.#close(1)
    this.#young.push(name)
  }

  async anchors(depth: number, count: 1 | 2 = 2): Promise<void> {
    this.#hasAnchors = true
    for (const factory of (['a', 'b'] as const).slice(0, count))
      await this.pool(`WETH-${factory}`, { of: 'WETH', depth, factory })
  }

  async impostors(symbol: string, usd: number, depth: number): Promise<void> {
    const { client, plan, seeded } = this.#chain.world
    const [of, other] = [{ ...this.#asset(symbol), usd }, this.#asset('USDC')]
    const side = pools.sideOf(of, other)
    const amounts = pools.inOrder(side, ...sizes.pairOf(of, other, depth))
    const tokens = pools.inPair(side, getAddress(of.address), getAddress(other.address))
    const { address } = await createV2Pair(client, await deployV2Factory(client, 'anywhere'), tokens)
    await trader.batch(client, seeded.trader, [trader.addV2(address, ...amounts)], GAS)
    const listed = plan.deployments.find(({ family }) => family === 'amm_v2')?.factory as Hex
    await claimPool(client, listed, tokens, amounts)
    await this.#follow()
  }

  async ask(token: string): Promise<void> {
    await this.#age()
    await this.#tokens.asked(token)
    await this.#answerFeeds()
    await this.#chain.world.client.setNextBlockTimestamp({ timestamp: BigInt(this.#time.nowS + 1) })
    await this.#chain.mine()
    await this.#follow()
    this.#service = await startTestService(this.#chain, { tokens: [token] })
  }

  add(name: string, depth: number, band?: Band): Position {
    const position = { pool: name, name: ++this.#made }
    this.#do(pools.add(this.#pool(name), depth, position.name, band))
    return position
  }

  remove({ pool, name: which }: Position): void {
    this.#do(...pools.remove(this.#pool(pool), which))
  }

  drain(name: string, share: number): void {
    this.#do(...pools.drain(this.#pool(name), share))
  }

  push(name: string, usd: number): void {
    this.#do(...pools.push(this.#pool(name), usd))
  }

  buy(name: string, usd: number): void {
    const pool = this.#pool(name)
    this.#do(...pools.swap(pool, false, sizes.unitsOf(pool.other, usd)))
  }

  sell(name: string, usd: number): void {
    const pool = this.#pool(name)
    this.#do(...pools.swap(pool, true, sizes.unitsOf({ ...pool.of, usd: pool.usd }, usd)))
  }

  donate(name: string, side: 'token' | 'other', usd: number): void {
    const pool = this.#pool(name)
    const [x, y] = side === 'token' ? [sizes.unitsOf(pool.of, usd), 0n] : [0n, sizes.unitsOf(pool.other, usd)]
    this.#do(pools.donate(pool, x, y))
  }

  seller(token: string): void {
    if (this.#tokens.isOdd(token))
      throw new Error(`${token}: the trader is spared what the token does to others`)
    this.#steps.push(...this.#offers(token))
  }

  worth(asset: string, usd: number): void {
    this.#worth.set(asset, usd)
  }

  async block(afterS = BLOCK_S): Promise<void> {
    await this.#age()
    if (this.#service !== null && this.#time.nowS - this.#answeredS >= ANSWER_S) await this.#answerFeeds()
    await this.#close(
      this.#isCatchingUp || this.#isLive ? Math.min(BLOCK_S, Math.max(1, this.#behindS())) : afterS,
    )
    if (++this.#ahead % AHEAD === 0) await this.#service?.untilTip(await this.#chain.head())
  }

  async quiet(forS: number, everyS = 60): Promise<void> {
    this.#round = null
    for (let passed = 0; passed < forS; passed += everyS) await this.block(Math.min(everyS, forS - passed))
  }

  async rounds(times: number, round: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; n < times; n++) {
      // The last round is checked before its end: the service must be healthy by then.
      if (n === times - 1 && this.#service !== null) {
        this.#round = round
        await this.#untilWell()
        this.#isLive = true
      }
      await round(n)
    }
    this.#isLive = false
  }

  async wait(): Promise<void> {}

  mark(): void {
    this.#isMarked = true
    this.#blocksSince = 0
  }

  async orphan(): Promise<void> {
    if (!this.#isMarked) throw new Error('no block was marked')
    await this.#chain.reorg(this.#blocksSince)
    await this.#reread()
  }

  async feed(asset: string, usd: number): Promise<void> {
    await this.#chain.world.life.answer(asset, usd)
    await this.#follow()
  }

  async decimals(token: string, decimals: number | null): Promise<void> {
    if (await this.#tokens.says(token, decimals ?? 255)) await this.#follow()
  }

  async health(): Promise<void> {
    throw new Error('what the service finds of its endpoints is not played on a chain')
  }

  watch(): void {}

  /** Only the last one counts: before it the service may be behind. */
  async look(token: string, { usd = this.#asset(token).usd }: LookOptions = {}): Promise<void> {
    const service = this.#service
    if (service === null) throw new Error(`${token} was never requested`)
    if (this.#isCatchingUp) return
    this.#looksLeft--
    if (this.#looksLeft > 0) return
    await this.#untilWell()
    const sellerUsd = this.#sellerUsd ?? (await this.#saleNow(token))
    const seen = await seenOf(await service.client(), CHAIN_ID, this.#asset(token).address)
    this.looks.splice(0, this.looks.length, { token, ...seen, trueUsd: usd, sellerUsd, changes: null })
    this.#sellerUsd = null
  }

  /** The head is of this moment, the service has it and has probed its token; the attack continues until then. */
  async #untilWell(): Promise<void> {
    const service = this.#service as TestService
    this.#isCatchingUp = true
    try {
      for (let n = 0; n < MOST_ROUNDS; n++) {
        // No block is longer than any other: what was there for longer would count for longer.
        if (this.#behindS() > BLOCK_S) {
          await this.#goOn(n)
          continue
        }
        await service.untilTip(await this.#chain.head())
        const isOfNow = Math.abs(this.#behindS()) <= 2
        if (isOfNow && (await service.health())?.status === 'HEALTHY' && (await this.#isProbed())) return
        await new Promise(resolve => setTimeout(resolve, Math.max(500, -this.#behindS() * 1000)))
        await this.#goOn(n)
      }
    } finally {
      this.#isCatchingUp = false
    }
    throw new Error('the service never was well')
  }

  /** Whether the service knows if its tokens can be sold. Without pools of native currency nothing can be tried. */
  async #isProbed(): Promise<boolean> {
    if (!this.#hasAnchors) return true
    const { config, store } = this.#service as TestService
    for (const token of config.chains.flatMap(({ tokens }) => tokens)) {
      const row = await store.readQuote(CHAIN_ID, token)
      const quote = row === null ? null : (JSON.parse(row.quote) as { sellability?: { reason?: string } })
      if (quote?.sellability?.reason === 'NOT_YET') return false
    }
    return true
  }

  #goOn(n: number): Promise<void> {
    return this.#round === null ? this.block() : this.#round(n)
  }

  #behindS(): number {
    return Math.floor(Date.now() / 1000) - this.#time.nowS
  }

  /** Time passes for pools that were there before, with an honest trade in the middle of it. */
  async #age(): Promise<void> {
    const [young, queued] = [this.#young, this.#steps]
    if (young.length === 0) return
    this.#young = []
    this.#steps = []
    for (const name of young) {
      const { usd, spec } = this.#pool(name)
      this.buy(name, Math.max(LEAST_TRADE, spec.depth / 100))
      // Where nobody can sell, nobody did.
      if (this.#tokens.saleTaxBps(spec.of) !== null) this.push(name, usd)
    }
    await this.#close(AGE_S / 2)
    this.#steps = queued
    this.#time.nowS += AGE_S / 2
  }

  #do(...calls: readonly Hex[]): void {
    for (const call of calls) this.#steps.push({ call })
  }

  async #close(afterS: number): Promise<void> {
    const { client, seeded } = this.#chain.world
    const steps = this.#steps
    this.#steps = []
    this.#time.nowS += afterS
    this.#blocksSince++
    await client.setNextBlockTimestamp({ timestamp: BigInt(this.#time.nowS) })
    if (steps.length === 0) {
      await this.#chain.mine()
      return
    }
    const calls = steps.map(({ call }) => call)
    const outcomes = await trader.batch(client, seeded.trader, calls, GAS)
    const offers: Paid[] = []
    outcomes.forEach((outcome, n) => {
      const offer = steps[n]?.ask
      if (offer !== undefined && !outcome.ok) offers.push({ offer, out: paid(offer, outcome.reason as Hex) })
    })
    const [first] = offers
    if (first !== undefined) this.#sellerUsd = this.#best(first.offer.pool.of.symbol, offers)
    await this.#reread()
  }

  /** What the chain made of it all, where a mirror of it could be a unit off. */
  async #reread(): Promise<void> {
    for (const pool of this.#pools.values()) {
      if (pool.ticks !== null) continue
      const { reserve0, reserve1 } = await this.#chain.reserves(pool.address)
      pool.reserves = pools.inOrder(pool.side, BigInt(reserve0), BigInt(reserve1))
      pool.shares = await this.#chain.world.client.readContract({
        address: pool.address,
        abi: v2PairAbi,
        functionName: 'totalSupply',
      })
    }
  }

  async #answerFeeds(): Promise<void> {
    this.#answeredS = this.#time.nowS
    await this.#chain.world.life.answerFeeds()
    await this.#follow()
  }

  /** Moves outside a block of the attack made blocks of their own: its time continues from them. */
  async #follow(): Promise<void> {
    const { timestamp } = await this.#chain.world.client.getBlock({ blockTag: 'latest' })
    this.#time.nowS = Math.max(this.#time.nowS, Number(timestamp))
  }

  #offers(token: string) {
    const own = [...this.#pools.values()].filter(({ of }) => of.symbol === token)
    return offersOf(own, this.#asset(token).usd, this.#tokens.saleTaxBps(token) ?? 0n)
  }

  async #saleNow(token: string): Promise<number> {
    const { client } = this.#chain.world
    const offers = this.#offers(token)
    const seller = await this.#tokens.seller(token)
    const calls = offers.map(({ call }) => call)
    const answers = await trader.probe(client, seller, calls, GAS)
    return this.#best(
      token,
      offers.map(({ ask }, n) => {
        const answer = answers[n] as trader.Probe
        return { offer: ask, out: answer.ok ? 0n : paid(ask, answer.reason as Hex) }
      }),
    )
  }

  #best(token: string, offers: readonly Paid[]): number {
    return bestOf(offers, this.#asset(token).usd, ({ symbol, usd }) => this.#worth.get(symbol) ?? usd)
  }

  #asset(symbol: string): pools.Asset {
    const found = this.#chain.world.plan.tokens.find(each => each.symbol === symbol)
    if (found === undefined) throw new Error(`no token ${symbol}`)
    return { ...found, address: lower(found.address) }
  }

  #pool(name: string): pools.Pool {
    const pool = this.#pools.get(name)
    if (pool === undefined) throw new Error(`no pool ${name}`)
    return pool
  }
}

const lower = (address: string): Hex => address.toLowerCase() as Hex
