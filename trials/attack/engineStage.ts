/**
 * The stage on the engine alone: a chain in memory on which every due timer runs. Pools that are not new count as
 * looked up: the engine accepts their depth as found.
 */
import {
  type Band,
  type Look,
  type LookOptions,
  type PoolSpec,
  type Position,
  sizes,
  type Stage,
  type TokenOptions,
} from '@assay/world'
import { assert } from '../../packages/engine/assert.ts'
import type { Address } from '../../packages/engine/chain/block.ts'
import { DAY, MINUTE, USDC, USDT, WETH } from '../../packages/engine/testing/cast.ts'
import { address } from '../../packages/engine/testing/chainSim.ts'
import { type Scenario, scenario } from '../../packages/engine/testing/scenario.ts'
import { count, ms } from '../../packages/engine/units.ts'
import {
  type Asset,
  bandOf,
  inOrder,
  movesOf,
  other,
  type Pool,
  reservesOf,
  type Side,
  usdOf,
} from './enginePool.ts'

const { unitsOf } = sizes
const BLOCK_S = 12
const FEED = { heartbeatMs: DAY, graceMs: 30 * MINUTE }
/** The heartbeat of the WETH feed, which answers this often in any case. */
const HEARTBEAT_MS = 30 * MINUTE
/** More is treated as no decimals at all (R-decimals). */
const MOST_DECIMALS = 36
const FEED_DECIMALS = 8
/** The value of a sale in dollars, and the number of parts, each of which goes to the best pool. */
const SALE = 1000
const PARTS = 20
/** Bisection steps of an amount until a price is met. */
const HALVINGS = 120
/** Timers in a row without time passing: an engine that sets more never comes to rest. */
const MOST_TIMERS = 10_000
export class EngineStage implements Stage {
  readonly looks: Look[] = []
  readonly #s: Scenario
  readonly #assets = new Map<string, Asset>()
  readonly #pools = new Map<string, Pool>()
  readonly #worth = new Map<string, number>()
  readonly #taxes = new Map<string, number | null>()
  readonly #heldTimes = new Map<string, number>()
  readonly #watched = new Map<string, { score: number | null; changes: number }>()
  /** The answer of the WETH feed, and when it repeats it. */
  readonly #ether = { usd: 2000, dueMs: 0 }
  #sellerUsd: number | null = null
  #made = 0
  #marked: { readonly sim: Scenario['sim']; readonly hash: Scenario['tip'] } | null = null

  constructor() {
    this.#s = scenario({ stables: [USDC, USDT], routing: [WETH], feed: FEED, assetFeeds: [WETH] })
    for (const [name, asset] of Object.entries({
      USDC: { address: USDC, decimals: 6, usd: 1 },
      USDT: { address: USDT, decimals: 6, usd: 1 },
      WETH: { address: WETH, decimals: 18, usd: 2000 },
    }))
      this.#assets.set(name, asset)
    this.#answer()
  }

  token(name: string, { decimals = 18, usd = 1, sellTaxBps = 0, heldTimes = 1 }: TokenOptions = {}): void {
    this.#heldTimes.set(name, heldTimes)
    this.#taxes.set(name, sellTaxBps)
    this.#assets.set(name, { address: address(0x10 + this.#assets.size), decimals, usd })
    this.#s.decimals(this.#asset(name).address, decimals)
  }

  async pool(name: string, spec: PoolSpec): Promise<void> {
    const of = { ...this.#asset(spec.of), usd: spec.price ?? this.#asset(spec.of).usd }
    const other = this.#asset(spec.with ?? 'USDC')
    const side: Side = of.address < other.address ? 0 : 1
    const pool: Pool = {
      address: address(0x100 + ++this.#made),
      of,
      other,
      spec,
      side,
      held: new Map(),
      moves: movesOf(spec),
    }
    this.#pools.set(name, pool)
    const lastTradeMs = ms(this.#s.nowMs - (spec.idleS ?? 60) * 1000)
    pool.held.set(++this.#made, pool.moves.create(this.#s, pool, lastTradeMs))
  }

  async anchors(depth: number, pools: 1 | 2 = 2): Promise<void> {
    for (const factory of (['a', 'b'] as const).slice(0, pools))
      await this.pool(`WETH-${factory}`, { of: 'WETH', depth, factory })
  }

  async impostors(): Promise<void> {
    throw new Error('contracts that are no pools are only on a chain')
  }

  async ask(token: string): Promise<void> {
    const { address } = this.#asset(token)
    this.#s.run({ kind: 'enrol', token: address })
    this.#probe(address, this.#taxOf(token))
    this.#hold(token)
    this.#note()
  }

  /** Basis points of a sale that do not arrive; null when nothing does. */
  #taxOf(token: string): number | null {
    const tax = this.#taxes.get(token)
    return tax === undefined ? 0 : tax
  }

  /** The pools' balances as the worker would read them. */
  #hold(token: string): void {
    const times = BigInt(this.#heldTimes.get(token) ?? 1)
    const own = [...this.#pools.values()].filter(({ of }) => of.address === this.#asset(token).address)
    const balances = own.flatMap(pool => {
      const reserves = reservesOf(this.#s, pool)
      if (reserves === null) return []
      return [{ pool: pool.address, balances: inOrder(pool.side, reserves[0] * times, reserves[1]) }]
    })
    this.#s.run({ kind: 'sellability', block: this.#s.tip, readings: [], balances })
  }

  /** The result that the worker would find: real contracts test that (`packages/server/market/oddTokens.test.ts`). */
  #probe(token: Address, sellTaxBps: number | null): void {
    if (sellTaxBps === null) this.#s.probed(token, { status: 'UNSELLABLE', reason: 'SELL_REVERTED' })
    else if (sellTaxBps > 0) this.#s.probed(token, { status: 'TAXED', sellTaxBps: count(sellTaxBps) })
    else this.#s.probed(token)
  }

  add(name: string, depth: number, band?: Band): Position {
    const pool = this.#pool(name)
    const at = { pool: name, name: ++this.#made }
    pool.held.set(at.name, pool.moves.add(this.#s, pool, depth, bandOf(pool, band)))
    return at
  }

  remove({ pool: name, name: at }: Position): void {
    const pool = this.#pool(name)
    const held = pool.held.get(at)
    assert(held !== undefined, () => `${name} has no such position`)
    pool.moves.take(this.#s, pool, held, held.amount)
    pool.held.delete(at)
  }

  drain(name: string, share: number): void {
    const pool = this.#pool(name)
    for (const [at, held] of pool.held) {
      const taken = (held.amount * BigInt(Math.round(share * 10_000))) / 10_000n
      pool.moves.take(this.#s, pool, held, taken)
      pool.held.set(at, { ...held, amount: held.amount - taken })
    }
  }

  push(name: string, usd: number): void {
    const pool = this.#pool(name)
    const isUp = this.#usd(pool) < usd
    const side = isUp ? other(pool.side) : pool.side
    const isShort = (amount: bigint) => {
      const { state } = this.#s.sim.quote(pool.address, side, amount)
      return isUp ? usdOf(pool, state) < usd : usdOf(pool, state) > usd
    }
    let high = 1n
    for (let doubled = 0; doubled < HALVINGS && isShort(high); doubled++) high *= 2n
    let low = high / 2n
    while (high - low > 1n) {
      const middle = (low + high) / 2n
      if (isShort(middle)) low = middle
      else high = middle
    }
    if (low > 0n) this.#s.sim.swap(pool.address, side, low)
  }

  buy(name: string, usd: number): void {
    const pool = this.#pool(name)
    this.#s.sim.swap(pool.address, other(pool.side), unitsOf(pool.other, usd))
  }

  sell(name: string, usd: number): void {
    const pool = this.#pool(name)
    this.#s.sim.swap(pool.address, pool.side, unitsOf({ ...pool.of, usd: this.#usd(pool) }, usd))
  }

  donate(name: string, side: 'token' | 'other', usd: number): void {
    const pool = this.#pool(name)
    const reserves = reservesOf(this.#s, pool)
    assert(reserves !== null, () => `${name} is not a pair`)
    const [dx, dy] = side === 'token' ? [unitsOf(pool.of, usd), 0n] : [0n, unitsOf(pool.other, usd)]
    const [reserve0, reserve1] = inOrder(pool.side, reserves[0] + dx, reserves[1] + dy)
    // Only a Sync reports it, without a Mint.
    this.#s.sim.sync(pool.address, reserve0, reserve1)
  }

  seller(token: string): void {
    this.#sellerUsd = this.#sale(token)
  }

  worth(asset: string, usd: number): void {
    this.#worth.set(asset, usd)
  }

  async block(afterS = BLOCK_S): Promise<void> {
    this.#runTimers(this.#s.sim.timeMs + afterS * 1000)
    this.#s.mine({ afterMs: afterS * 1000 })
    this.#note()
  }

  async quiet(forS: number, everyS = 60): Promise<void> {
    for (let passed = 0; passed < forS; passed += everyS) await this.block(Math.min(everyS, forS - passed))
  }

  async wait(forS: number): Promise<void> {
    const untilMs = this.#s.nowMs + forS * 1000
    this.#runTimers(untilMs)
    this.#s.nowMs = ms(untilMs)
    this.#s.run({ kind: 'timer' })
    this.#note()
  }

  async rounds(times: number, round: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; n < times; n++) await round(n)
  }

  mark(): void {
    this.#marked = { sim: this.#s.branch(`r${++this.#made}`), hash: this.#s.tip }
  }

  async orphan(): Promise<void> {
    assert(this.#marked !== null, () => 'no block was marked')
    const { sim, hash } = this.#marked
    const blocks = []
    while (sim.timeMs < this.#s.tip.timeMs) blocks.push(sim.mine({ afterMs: BLOCK_S * 1000 }))
    assert(blocks[0]?.parentHash === hash.hash, () => 'the branch begins elsewhere')
    this.#s.reorg(sim, blocks)
    this.#note()
  }

  async feed(asset: string, usd: number): Promise<void> {
    if (asset === 'WETH') {
      this.#ether.usd = usd
      this.#answer()
    } else this.#s.stable(this.#asset(asset).address, BigInt(Math.round(usd * 10 ** FEED_DECIMALS)))
    this.#note()
  }

  async decimals(token: string, decimals: number | null): Promise<void> {
    const isValid = decimals !== null && decimals <= MOST_DECIMALS
    this.#s.decimals(
      this.#asset(token).address,
      isValid ? decimals : null,
      isValid ? null : `decimals() is ${decimals}`,
    )
    this.#note()
  }

  async health(status: 'HEALTHY' | 'DEGRADED' | 'GAP' | 'UNAVAILABLE'): Promise<void> {
    this.#s.health(status)
    this.#note()
  }

  watch(token: string): void {
    this.#watched.set(token, { score: null, changes: 0 })
    this.#note()
  }

  async look(token: string, { usd = this.#asset(token).usd }: LookOptions = {}): Promise<void> {
    const compact = this.#s.published(this.#asset(token).address)
    const isPriced = compact.state === 'PRICED'
    this.looks.push({
      token,
      usd: isPriced ? Number(compact.price_usd.display) : null,
      score: isPriced ? compact.confidence.score : 0,
      codes: isPriced ? compact.confidence.caps.map(({ code }) => code) : [compact.reason],
      trueUsd: usd,
      sellerUsd: this.#sellerUsd ?? this.#sale(token),
      changes: this.#watched.get(token)?.changes ?? null,
    })
    this.#sellerUsd = null
  }

  #answer(): void {
    this.#s.answered(WETH, BigInt(Math.round(this.#ether.usd * 10 ** FEED_DECIMALS)))
    this.#ether.dueMs = this.#s.nowMs + HEARTBEAT_MS
  }

  /** Every timer and every answer due by then, each at its time. */
  #runTimers(untilMs: number): void {
    for (let fired = 0; fired < MOST_TIMERS; fired++) {
      const { nextTimerMs } = this.#s.result
      const answersMs = this.#ether.dueMs
      if (answersMs <= untilMs && answersMs <= (nextTimerMs ?? untilMs)) {
        this.#s.nowMs = ms(Math.max(answersMs, this.#s.nowMs))
        this.#answer()
        this.#note()
        continue
      }
      if (nextTimerMs === null || nextTimerMs > untilMs || nextTimerMs < this.#s.nowMs) return
      this.#s.timer()
      this.#note()
    }
    throw new Error(`${MOST_TIMERS} timers in a row are due`)
  }

  #note(): void {
    for (const [token, seen] of this.#watched) {
      const compact = this.#s.published(this.#asset(token).address)
      const score = compact.state === 'PRICED' ? compact.confidence.score : 0
      if (seen.score !== null && seen.score !== score) seen.changes++
      seen.score = score
    }
  }

  /** Dollars per token for a seller who sends each part where it brings most. */
  #sale(token: string): number {
    const of = this.#asset(token)
    const part = unitsOf(of, SALE / PARTS)
    if (part === 0n) return Number.NaN
    const pools = [...this.#pools.values()].filter(pool => pool.of.address === of.address)
    const sold = new Map<Pool, { amount: bigint; dollars: number }>()
    for (let n = 0; n < PARTS; n++) {
      const offers = pools.map(pool => {
        const before = sold.get(pool) ?? { amount: 0n, dollars: 0 }
        const amount = before.amount + part
        const out = this.#isLive(pool) ? this.#s.sim.quote(pool.address, pool.side, amount).amountOut : 0n
        return {
          pool,
          amount,
          dollars: this.#dollars(pool, out),
          gain: this.#dollars(pool, out) - before.dollars,
        }
      })
      const [best] = offers.toSorted((a, b) => b.gain - a.gain)
      if (best === undefined) break
      sold.set(best.pool, best)
    }
    const dollars = [...sold.values()].reduce((sum, each) => sum + each.dollars, 0)
    const tax = this.#taxOf(token)
    const share = tax === null ? 0 : 1 - tax / 10_000
    return (dollars / SALE) * of.usd * share
  }

  #dollars({ other: { address: of, decimals } }: Pool, out: bigint): number {
    const [name, asset] = [...this.#assets].find(([, each]) => each.address === of) as [string, Asset]
    return (Number(out) / 10 ** decimals) * (this.#worth.get(name) ?? asset.usd)
  }

  /** Whether a sale meets any liquidity at all. */
  #isLive(pool: Pool): boolean {
    const reserves = reservesOf(this.#s, pool)
    return reserves === null || (reserves[0] > 0n && reserves[1] > 0n)
  }

  #usd(pool: Pool): number {
    return usdOf(pool, this.#s.sim.amm(pool.address))
  }

  #asset(name: string): Asset {
    const asset = this.#assets.get(name)
    assert(asset !== undefined, () => `no token ${name}`)
    return asset
  }

  #pool(name: string): Pool {
    const pool = this.#pools.get(name)
    assert(pool !== undefined, () => `no pool ${name}`)
    return pool
  }
}
