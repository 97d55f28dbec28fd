/**
 * The stage on real contracts, with the whole service behind it: a block is one transaction of the trader, in the order
 * of the moves. The chain begins as long ago as the attack takes, so that its last block is of this moment; only then is
 * the service well, and only the last look is taken.
 *
 * A seller inside a block is a sale that always reverts: the contract itself says what it would have paid.
 */
import {
  type Attack,
  type Band,
  type ChainPlan,
  createV2Pair,
  createV3Pool,
  claimPool,
  deployV2Factory,
  DEV_ACCOUNT,
  initialiseV3Pool,
  type Look,
  type LookOptions,
  type PoolSpec,
  type Position,
  send,
  sizes,
  type Stage,
  testTokenAbi,
  trader,
  traderAbi,
  V2_PAIR_INIT_CODE_HASH,
  v2PairAbi,
} from '@assay/world'
import { decodeAbiParameters, encodeFunctionData, getAddress, slice } from 'viem'
import { AGE_S, Rehearsal } from './attackRehearsal.ts'
import { CHAIN_ID } from './plan.ts'
import { type Hex, startTestChain, type TestChain } from './testChain.ts'
import { startTestService, type TestService } from './testService.ts'

const BLOCK_S = 12
const GAS = 55_000_000n
const SALE = 1000
/** Dollars that count as a trade. */
const LEAST_TRADE = 15
const WIDE: Band = [0.25, 4]
/** What a world and a service need to be there, and what a block of an attack takes, in seconds of this machine. */
const START_S = 4
const A_BLOCK_S = 0.02
/** A v3 swap ends at its price limit, and takes no more than this. */
const EVERYTHING = 1n << 200n
const Q96 = 2 ** 96
/** Rounds until a service is well that fell behind: its feed wants some blocks and seconds. */
const MOST_ROUNDS = 200
/** What the node keeps: a look-back asks for states and logs of the last 35 minutes. */
const KEPT_BLOCKS = 600

type Side = 0 | 1
type Asset = sizes.Coin & { readonly symbol: string; readonly address: Hex }
type Pool = {
  readonly address: Hex
  readonly of: Asset
  readonly other: Asset
  readonly spec: PoolSpec
  readonly side: Side
  readonly spacing: number
  readonly held: Map<number, Held>
  /** What the moves so far have made of it, in the token's orientation of a pair, and the price a pool was pushed to. */
  reserves: readonly [bigint, bigint]
  shares: bigint
  usd: number
}
type Held =
  | { readonly family: 'v2'; readonly shares: bigint }
  | { readonly family: 'v3'; readonly lower: number; readonly upper: number; readonly liquidity: bigint }
/** A move, or a question whose answer is read from the block. */
type Step = { readonly call: Hex; readonly ask?: Offer }
type Offer = { readonly pool: Pool; readonly share: number; readonly before: bigint }

export async function playOnChain(play: Attack['play']): Promise<readonly Look[]> {
  const rehearsal = new Rehearsal()
  await play(rehearsal)
  const needsS = Math.ceil(START_S + rehearsal.blocks * A_BLOCK_S)
  const time = { nowS: Math.floor(Date.now() / 1000) - rehearsal.spanS + needsS - 30 }
  const chain = await startTestChain(planOf(rehearsal), {
    clock: { hurry: 1, nowS: () => time.nowS },
    keptBlocks: KEPT_BLOCKS,
  })
  const stage = new ChainStage(chain, time, rehearsal.looks)
  try {
    await play(stage)
    return stage.looks
  } finally {
    await stage.close()
  }
}

const at = (n: number): Hex => `0x${n.toString(16).padStart(40, 'a7')}`

const planOf = ({ tokens }: Rehearsal): ChainPlan => ({
  chainId: CHAIN_ID,
  name: 'Chain of attacks',
  blockTimeS: BLOCK_S,
  deployments: [
    { id: 'v3-a', family: 'amm_v3', factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984' },
    { id: 'v3-b', family: 'amm_v3', factory: '0x33128a8fC17869897dcE68Ed026d694621f6FDfD' },
    { id: 'v2-a', family: 'amm_v2', factory: '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f' },
    { id: 'v2-b', family: 'amm_v2', factory: '0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73' },
  ],
  tokens: [
    { symbol: 'USDC', decimals: 6, usd: 1, address: at(0x10), role: 'STABLE' },
    { symbol: 'USDT', decimals: 6, usd: 1, address: at(0x20), role: 'STABLE' },
    { symbol: 'WETH', decimals: 18, usd: 2000, address: at(0x30), role: 'ROUTING' },
    ...[...tokens].map(([symbol, { decimals, usd }], n) => ({
      symbol,
      decimals,
      usd,
      address: at(0x40 + n),
      role: 'TOKEN' as const,
    })),
  ],
  pools: [],
})

class ChainStage implements Stage {
  readonly looks: Look[] = []
  readonly #chain: TestChain
  readonly #time: { nowS: number }
  #service: TestService | null = null
  readonly #pools = new Map<string, Pool>()
  readonly #worth = new Map<string, number>()
  #steps: Step[] = []
  /** Pools that are to be old by the next block. */
  #young: string[] = []
  #made = 0
  #isMarked = false
  #sellerUsd: number | null = null
  /** What the attacker does in every block, for as long as the service needs. */
  #round: ((n: number) => Promise<void>) | null = null
  #isCatchingUp = false
  /** The chain is at this moment, and its blocks come as it passes. */
  #isLive = false
  #looksLeft: number
  #blocksSince = 0

  constructor(chain: TestChain, time: { nowS: number }, looks: number) {
    this.#chain = chain
    this.#time = time
    this.#looksLeft = looks
  }

  async close(): Promise<void> {
    await this.#service?.close()
    await this.#chain.close()
  }

  token(): void {}

  async pool(name: string, spec: PoolSpec): Promise<void> {
    const of = { ...this.#asset(spec.of), usd: spec.price ?? this.#asset(spec.of).usd }
    const other = this.#asset(spec.with ?? 'USDC')
    const family = spec.family ?? 'v2'
    const { client } = this.#chain.world
    const id = `${family}-${spec.factory ?? 'a'}`
    const { factory } = this.#chain.world.plan.deployments.find(each => each.id === id) as { factory: Hex }
    const tokens = [getAddress(of.address), getAddress(other.address)] as const
    const side: Side = of.address < other.address ? 0 : 1
    const known = { of, other, spec, side, held: new Map(), shares: 0n, usd: of.usd }
    if (family === 'v2') {
      const { address } = await createV2Pair(
        client,
        { address: factory, pairInitCodeHash: V2_PAIR_INIT_CODE_HASH },
        tokens,
      )
      const pool: Pool = { ...known, address: lower(address), spacing: 1, reserves: [0n, 0n] }
      this.#pools.set(name, pool)
      this.#fill(pool, spec.depth, ++this.#made)
    } else {
      const feePpm = spec.feePpm ?? 3000
      const created = await createV3Pool(client, factory, tokens, feePpm)
      const pool: Pool = {
        ...known,
        address: lower(created.address),
        spacing: created.tickSpacing,
        reserves: [0n, 0n],
      }
      this.#pools.set(name, pool)
      await initialiseV3Pool(client, created, rootOf(this.#raw(pool, of.usd)))
      this.#mint(pool, spec.depth, spec.band ?? WIDE, ++this.#made)
    }
    await this.#follow()
    // It was there before, so it is filled at once; a new one is filled in the block that follows.
    if (spec.isNew === true) return
    await this.#close(1)
    this.#young.push(name)
  }

  async anchors(depth: number, pools: 1 | 2 = 2): Promise<void> {
    for (const factory of (['a', 'b'] as const).slice(0, pools))
      await this.pool(`WETH-${factory}`, { of: 'WETH', depth, factory })
  }

  async impostors(symbol: string, usd: number, depth: number): Promise<void> {
    const { client, plan, seeded } = this.#chain.world
    const [of, other] = [{ ...this.#asset(symbol), usd }, this.#asset('USDC')]
    const side: Side = of.address < other.address ? 0 : 1
    const amounts = inOrder(side, ...sizes.pairOf(of, other, depth))
    const tokens = inPair(side, getAddress(of.address), getAddress(other.address))
    const { address } = await createV2Pair(client, await deployV2Factory(client, 'anywhere'), tokens)
    await trader.batch(client, seeded.trader, [trader.addV2(address, ...amounts)], GAS)
    const listed = plan.deployments.find(({ family }) => family === 'amm_v2')?.factory as Hex
    await claimPool(client, listed, tokens, amounts)
    await this.#follow()
  }

  async ask(token: string): Promise<void> {
    await this.#age()
    await this.#chain.world.life.answerFeeds()
    await this.#follow()
    await this.#chain.world.client.setNextBlockTimestamp({ timestamp: BigInt(this.#time.nowS + 1) })
    await this.#chain.mine()
    await this.#follow()
    this.#service = await startTestService(this.#chain, { tokens: [token] })
  }

  add(name: string, depth: number, band?: Band): Position {
    const pool = this.#pool(name)
    const position = { pool: name, name: ++this.#made }
    if (pool.spec.family === 'v3') this.#mint(pool, depth, band ?? pool.spec.band ?? WIDE, position.name)
    else this.#fill(pool, depth, position.name)
    return position
  }

  remove({ pool: name, name: which }: Position): void {
    const pool = this.#pool(name)
    const held = pool.held.get(which)
    if (held === undefined) throw new Error(`${name} has no such position`)
    pool.held.delete(which)
    this.#take(pool, held)
  }

  drain(name: string, share: number): void {
    const pool = this.#pool(name)
    const part = (amount: bigint) => (amount * BigInt(Math.round(share * 10_000))) / 10_000n
    for (const [which, held] of pool.held) {
      if (held.family === 'v3') {
        const liquidity = part(held.liquidity)
        this.#take(pool, { ...held, liquidity })
        pool.held.set(which, { ...held, liquidity: held.liquidity - liquidity })
      } else {
        const shares = part(held.shares)
        this.#take(pool, { ...held, shares })
        pool.held.set(which, { ...held, shares: held.shares - shares })
      }
    }
  }

  push(name: string, usd: number): void {
    const pool = this.#pool(name)
    if (pool.spec.family === 'v3') {
      const limit = rootOf(this.#raw(pool, usd))
      // Which way it is, the contract knows: the other one reverts and leaves nothing.
      for (const isZeroForOne of [true, false])
        this.#steps.push({ call: trader.swapV3(pool.address, isZeroForOne, EVERYTHING, limit) })
    } else {
      const wanted = (usd / pool.other.usd) * 10 ** (pool.other.decimals - pool.of.decimals)
      const [x, y] = pool.reserves.map(Number) as [number, number]
      if (y / x === wanted) return
      const isSale = y / x > wanted
      // To the price with the fee left in the pair, found by halving.
      let [low, high] = [0n, isSale ? pool.reserves[0] * 1000n : pool.reserves[1] * 1000n]
      while (high - low > 1n) {
        const middle = (low + high) / 2n
        const after = swapped(pool.reserves, isSale, middle)
        const price = Number(after[1]) / Number(after[0])
        if (isSale ? price > wanted : price < wanted) low = middle
        else high = middle
      }
      this.#swapV2(pool, isSale, low)
    }
    pool.usd = usd
  }

  buy(name: string, usd: number): void {
    const pool = this.#pool(name)
    this.#swap(pool, false, sizes.unitsOf(pool.other, usd))
  }

  sell(name: string, usd: number): void {
    const pool = this.#pool(name)
    this.#swap(pool, true, sizes.unitsOf({ ...pool.of, usd: pool.usd }, usd))
  }

  donate(name: string, side: 'token' | 'other', usd: number): void {
    const pool = this.#pool(name)
    const [x, y] = side === 'token' ? [sizes.unitsOf(pool.of, usd), 0n] : [0n, sizes.unitsOf(pool.other, usd)]
    this.#steps.push({ call: trader.donateV2(pool.address, ...inOrder(pool.side, x, y)) })
    pool.reserves = [pool.reserves[0] + x, pool.reserves[1] + y]
  }

  seller(token: string): void {
    this.#steps.push(...this.#offers(token))
  }

  worth(asset: string, usd: number): void {
    this.#worth.set(asset, usd)
  }

  async block(afterS = BLOCK_S): Promise<void> {
    await this.#age()
    await this.#close(
      this.#isCatchingUp || this.#isLive ? Math.min(BLOCK_S, Math.max(1, this.#behindS())) : afterS,
    )
  }

  async quiet(forS: number, everyS = 60): Promise<void> {
    this.#round = null
    for (let passed = 0; passed < forS; passed += everyS) await this.block(Math.min(everyS, forS - passed))
  }

  async rounds(times: number, round: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; n < times; n++) {
      // A look of the last round comes before its end: the service must be well by then.
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
    const data = encodeFunctionData({
      abi: testTokenAbi,
      functionName: 'setDecimals',
      args: [decimals ?? 255],
    })
    await send(this.#chain.world.client, { from: DEV_ACCOUNT, to: this.#asset(token).address, data })
    await this.#follow()
  }

  async health(): Promise<void> {
    throw new Error('what the service finds of its endpoints is not played on a chain')
  }

  watch(): void {}

  /** Only the last one counts: before it the service may be behind. */
  async look(token: string, { usd = this.#asset(token).usd }: LookOptions = {}): Promise<void> {
    const service = this.#service
    if (service === null) throw new Error(`${token} was never asked for`)
    if (this.#isCatchingUp) return
    this.#looksLeft--
    if (this.#looksLeft > 0) return
    await this.#untilWell()
    const sellerUsd = this.#sellerUsd ?? (await this.#saleNow(token))
    const client = await service.client()
    const quote = await client.quoteToken({ chain_id: CHAIN_ID, token_address: this.#asset(token).address })
    const isPriced = quote.state === 'PRICED'
    this.looks.splice(0, this.looks.length, {
      token,
      usd: isPriced ? Number(quote.price_usd.display) : null,
      score: isPriced ? quote.confidence.score : 0,
      codes: isPriced
        ? quote.confidence.caps.map(({ code }) => code)
        : [quote.state === 'UNPRICED' ? quote.reason : quote.state],
      trueUsd: usd,
      sellerUsd,
      changes: null,
    })
    this.#sellerUsd = null
  }

  /** The head is of this moment and the service has it; the attack goes on until then. */
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
        if (isOfNow && (await service.health())?.status === 'HEALTHY') return
        await new Promise(resolve => setTimeout(resolve, Math.max(500, -this.#behindS() * 1000)))
        await this.#goOn(n)
      }
    } finally {
      this.#isCatchingUp = false
    }
    throw new Error('the service never was well')
  }

  #goOn(n: number): Promise<void> {
    return this.#round === null ? this.block() : this.#round(n)
  }

  #behindS(): number {
    return realS() - this.#time.nowS
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
      this.push(name, usd)
    }
    await this.#close(AGE_S / 2)
    this.#steps = queued
    this.#time.nowS += AGE_S / 2
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
    const outcomes = await trader.batch(
      client,
      seeded.trader,
      steps.map(({ call }) => call),
      GAS,
    )
    const offers: { readonly offer: Offer; readonly out: bigint }[] = []
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
      if (pool.spec.family === 'v3') continue
      const { reserve0, reserve1 } = await this.#chain.reserves(pool.address)
      pool.reserves = inOrder(pool.side, BigInt(reserve0), BigInt(reserve1))
      pool.shares = await this.#chain.world.client.readContract({
        address: pool.address,
        abi: v2PairAbi,
        functionName: 'totalSupply',
      })
    }
  }

  /** Moves outside a block of the attack made blocks of their own: its time goes on from them. */
  async #follow(): Promise<void> {
    const { timestamp } = await this.#chain.world.client.getBlock({ blockTag: 'latest' })
    this.#time.nowS = Math.max(this.#time.nowS, Number(timestamp))
  }

  #fill(pool: Pool, depth: number, which: number): void {
    const [x, y] = pool.reserves
    const of = { ...pool.of, usd: pool.usd }
    const [dx, planned] = sizes.pairOf(of, pool.other, depth)
    const dy = x === 0n ? planned : (dx * y) / x
    this.#steps.push({ call: trader.addV2(pool.address, ...inOrder(pool.side, dx, dy)) })
    const minted = x === 0n ? root(dx * dy) - 1000n : least((dx * pool.shares) / x, (dy * pool.shares) / y)
    pool.shares += x === 0n ? minted + 1000n : minted
    pool.reserves = [x + dx, y + dy]
    pool.held.set(which, { family: 'v2', shares: minted })
  }

  #mint(pool: Pool, depth: number, [low, high]: Band, which: number): void {
    const of = { ...pool.of, usd: pool.usd }
    const ticks = [low, high].map(times =>
      sizes.snap(sizes.tickOf(this.#raw(pool, pool.usd * times)), pool.spacing),
    )
    const [from, to] = ticks.toSorted((a, b) => a - b) as [number, number]
    const upper = to === from ? from + pool.spacing : to
    const liquidity = sizes.liquidityOf(pool.side === 0 ? pool.other : of, this.#raw(pool, pool.usd), depth)
    this.#steps.push({ call: trader.mintV3(pool.address, from, upper, liquidity) })
    pool.held.set(which, { family: 'v3', lower: from, upper, liquidity })
  }

  #take(pool: Pool, held: Held): void {
    if (held.family === 'v3') {
      if (held.liquidity > 0n)
        this.#steps.push({ call: trader.burnV3(pool.address, held.lower, held.upper, held.liquidity) })
      return
    }
    if (held.shares === 0n) return
    this.#steps.push({ call: trader.removeV2(pool.address, held.shares) })
    const [x, y] = pool.reserves
    pool.reserves = [x - (x * held.shares) / pool.shares, y - (y * held.shares) / pool.shares]
    pool.shares -= held.shares
  }

  #swap(pool: Pool, isSale: boolean, amount: bigint): void {
    if (pool.spec.family !== 'v3') return this.#swapV2(pool, isSale, amount)
    this.#steps.push({ call: trader.swapV3(pool.address, isSale === (pool.side === 0), amount) })
  }

  #swapV2(pool: Pool, isSale: boolean, amount: bigint): void {
    if (amount === 0n) return
    this.#steps.push({ call: trader.swapExactInV2(pool.address, isSale === (pool.side === 0), amount, FEE) })
    pool.reserves = swapped(pool.reserves, isSale, amount)
  }

  /** A sale of all and of half into each pool of the token, as questions. */
  #offers(token: string): Step[] {
    const pools = [...this.#pools.values()].filter(({ of }) => of.symbol === token)
    return pools.flatMap(pool =>
      [1, 0.5].map(share => {
        const amount = sizes.unitsOf(this.#asset(token), SALE * share)
        const isZeroForOne = pool.side === 0
        const sale =
          pool.spec.family === 'v3'
            ? trader.swapV3(pool.address, isZeroForOne, amount)
            : trader.swapExactInV2(pool.address, isZeroForOne, amount, FEE)
        const call = encodeFunctionData({ abi: traderAbi, functionName: 'probeOne', args: [sale] })
        return { call, ask: { pool, share, before: pool.reserves[1] } }
      }),
    )
  }

  async #saleNow(token: string): Promise<number> {
    const { client, seeded } = this.#chain.world
    const offers = this.#offers(token)
    const answers = await trader.probe(
      client,
      seeded.trader,
      offers.map(({ call }) => call),
      GAS,
    )
    return this.#best(
      token,
      offers.map(({ ask }, n) => {
        const answer = answers[n] as trader.Probe
        return { offer: ask as Offer, out: answer.ok ? 0n : paid(ask as Offer, answer.reason as Hex) }
      }),
    )
  }

  /** Dollars a token: all into the best pool, or a half into each of the best two. */
  #best(token: string, offers: readonly { readonly offer: Offer; readonly out: bigint }[]): number {
    const dollars = (share: number) =>
      offers
        .filter(({ offer }) => offer.share === share)
        .map(({ offer: { pool }, out }) => {
          const { symbol, decimals, usd } = pool.other
          return (Number(out) / 10 ** decimals) * (this.#worth.get(symbol) ?? usd)
        })
        .toSorted((a, b) => b - a)
    const [whole = 0] = dollars(1)
    const [first = 0, second = 0] = dollars(0.5)
    return (Math.max(whole, first + second) / SALE) * this.#asset(token).usd
  }

  #raw({ side, of, other }: Pool, usd: number): number {
    const token = { ...of, usd }
    return side === 0 ? sizes.rawPrice(token, other) : sizes.rawPrice(other, token)
  }

  #asset(symbol: string): Asset {
    const found = this.#chain.world.plan.tokens.find(each => each.symbol === symbol)
    if (found === undefined) throw new Error(`no token ${symbol}`)
    return { ...found, address: lower(found.address) }
  }

  #pool(name: string): Pool {
    const pool = this.#pools.get(name)
    if (pool === undefined) throw new Error(`no pool ${name}`)
    return pool
  }
}

const FEE = { numerator: 997n, denominator: 1000n }
const realS = (): number => Math.floor(Date.now() / 1000)
const lower = (address: string): Hex => address.toLowerCase() as Hex
const inOrder = (side: Side, x: bigint, y: bigint): readonly [bigint, bigint] =>
  side === 0 ? [x, y] : [y, x]
const inPair = (side: Side, x: Hex, y: Hex): readonly [Hex, Hex] => (side === 0 ? [x, y] : [y, x])
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const rootOf = (raw: number): bigint => BigInt(Math.round(Math.sqrt(raw) * Q96))

function swapped(
  [x, y]: readonly [bigint, bigint],
  isSale: boolean,
  amount: bigint,
): readonly [bigint, bigint] {
  const traded = amount * FEE.numerator
  if (isSale) return [x + amount, y - (traded * y) / (x * FEE.denominator + traded)]
  return [x - (traded * x) / (y * FEE.denominator + traded), y + amount]
}

function root(value: bigint): bigint {
  let guess = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (;;) {
    const next = (guess + value / guess) / 2n
    if (next >= guess) return guess
    guess = next
  }
}

/** What `probeOne` threw: whether the sale went through, and what it returned. */
function paid({ pool, before }: Offer, reason: Hex): bigint {
  const [isOk, result] = decodeAbiParameters([{ type: 'bool' }, { type: 'bytes' }], slice(reason, 4))
  if (!isOk) return 0n
  const words = [{ type: 'int256' }, { type: 'int256' }] as const
  const [first, second] = decodeAbiParameters(words, result)
  const [, y] = inOrder(pool.side, first, second)
  return pool.spec.family === 'v3' ? -y : before - y
}
