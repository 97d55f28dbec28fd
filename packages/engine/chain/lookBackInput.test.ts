import { describe, expect, it } from 'vitest'
import { LookBack } from '../lookBack.ts'
import { effectiveY } from '../rules/hopCapacity.ts'
import * as depthAverage from '../rules/depthAverage.ts'
import type { DepthAverage } from '../rules/depthAverage.ts'
import { decodeState, encodeEntity, entityKeys } from '../stored/codec.ts'
import { DAI, DAY, E6, E18, HOUR, MINUTE, P1, P2, P3, SECOND, T, USDC, WETH } from '../testing/cast.ts'
import type { ChainSim } from '../testing/chainSim.ts'
import type { LoadedPool, LookedBack, LookedPast } from '../input.ts'
import { type Scenario, scenario } from '../testing/scenario.ts'
import { count, ms, tick } from '../units.ts'
import type { Address, Block, BlockRef } from './block.ts'

const X = 30_000_000n * E18
const Y = 60_000_000n * E6
const YEAR = 365 * DAY

/** A chain on which things happen to pools that nobody follows, and what a look-back finds of them. */
class Unwatched {
  readonly s: Scenario
  #start: { readonly block: BlockRef; readonly sim: ChainSim }
  readonly #blocks: Block[] = []

  constructor(s: Scenario) {
    this.s = s
    this.#start = { block: s.tip, sim: s.sim.fork('start') }
  }

  /** The window begins behind this block. */
  begin(): void {
    this.#start = { block: this.s.tip, sim: this.s.sim.fork('start') }
    this.#blocks.length = 0
  }

  mine(afterMs = 12 * SECOND): void {
    const block = this.s.sim.mine({ afterMs })
    this.#blocks.push(block)
    this.s.tip = { number: block.number, hash: block.hash, timeMs: block.timeMs }
    if (block.timeMs > this.s.nowMs) this.s.nowMs = block.timeMs
    this.s.run({ kind: 'block', block: { ...block, events: [] } })
  }

  /** A block whose events the known pools receive. */
  follow(afterMs: number): void {
    const block = this.s.sim.mine({ afterMs })
    this.#blocks.push(block)
    this.s.tip = { number: block.number, hash: block.hash, timeMs: block.timeMs }
    if (block.timeMs > this.s.nowMs) this.s.nowMs = block.timeMs
    this.s.run({
      kind: 'block',
      block: { ...block, events: block.events.filter(({ pool }) => this.s.state.pools.has(pool)) },
    })
  }

  back(...of: Parameters<Unwatched['fold']>): readonly LookedBack[] {
    return this.fold(...of).pools
  }

  fold(
    pools: readonly Address[],
    facts: Partial<LoadedPool> = {},
    isProven = true,
    isPruned = false,
  ): { readonly pools: readonly LookedBack[]; readonly pasts: readonly LookedPast[] } {
    const { block: start, sim } = this.#start
    const travellers = pools.map(pool => ({
      loaded: { ...this.s.sim.loaded(pool), ...facts },
      read: isThere(sim, pool) && !isPruned ? sim.amm(pool) : null,
      older: [],
    }))
    const end = this.s.tip
    const logs = {
      fromBlock: count(start.number + 1),
      toBlock: end.number,
      count: count(0),
      digest: '0x',
    }
    const window = { start, end, blocks: this.#blocks, isProven, times: 'EXACT', logs } as const
    const lookBack = new LookBack(this.s.state, window, travellers)
    for (const _ of lookBack.fold());
    return { pools: lookBack.result(), pasts: lookBack.pasts() }
  }

  look(pools: readonly Address[], facts: Partial<LoadedPool> = {}, isProven = true): void {
    const { pools: looked, pasts } = this.fold(pools, facts, isProven)
    this.s.run({ kind: 'look_back', block: this.s.tip, pools: looked, pasts })
  }

  unread(pool: Address, facts: Partial<LoadedPool> = {}): void {
    const loaded = { ...this.s.sim.loaded(pool), ...facts, past: 'UNREAD' as const }
    this.s.run({ kind: 'load', block: this.s.tip, pools: [loaded] })
  }
}

function isThere(sim: ChainSim, pool: Address): boolean {
  try {
    sim.amm(pool)
    return true
  } catch {
    return false
  }
}

/** T in USDC over pools that are old, and nobody has asked for T yet. */
function unwatched(pools: readonly Address[] = [P1]): Unwatched {
  const s = scenario()
  for (const [at, pool] of pools.entries()) s.bornV2(pool, [T, X], [USDC, Y], { deployment: `d${at}` })
  s.sim.forget()
  const chain = new Unwatched(s)
  chain.begin()
  return chain
}

/** Half an hour and more of a market in which somebody trades. */
function aged(pools: readonly Address[] = [P1]): Unwatched {
  const chain = unwatched(pools)
  for (let n = 0; n < 36; n++) {
    for (const pool of pools) chain.s.sell(pool, 1_000n * E18)
    chain.mine(MINUTE)
  }
  return chain
}

const capsOf = (s: Scenario, pool = P1) => s.edge(pool).caps.map(({ code, cap }) => `${code} ${cap}`)

describe('a pool added with its look-back', () => {
  it('R-history-1: is priced like one followed all along: its average, its median and its last trade are there', () => {
    const chain = aged()
    const { s } = chain
    chain.look([P1])
    s.enrol(T)
    expect(capsOf(s)).toEqual(['SINGLE_POOL_PAIR 8'])
    expect(s.edge(P1).components.temporal).toMatchObject({ score: 10, coveredMs: 5 * MINUTE })
    expect(s.pool(P1).state).toMatchObject({ lastTradeMs: s.tip.timeMs, past: { kind: 'READ' } })
  })

  it('R-history-5: is marked unproven, and capped until five minutes have been observed', () => {
    const chain = aged()
    const { s } = chain
    chain.look([P1], {}, false)
    expect(s.edge(P1).components.temporal.score).toBe(8)
    expect(s.poolText(P1)['past']).toEqual({
      kind: 'READ',
      read_at_ms: s.tip.timeMs,
      is_proven: false,
      times: 'EXACT',
      traded_by_ms: null,
    })
    s.quiet(5 * MINUTE)
    expect(s.edge(P1).components.temporal.score).toBe(10)
  })

  it('R-history-1, R-reorg-4: is removed with the block it was added at, and requested again', () => {
    const chain = aged()
    const { s } = chain
    const branch = s.branch()
    chain.mine()
    chain.look([P1])
    s.reorg(branch, [branch.mine()])
    expect(s.state.pools.has(P1)).toBe(false)
    expect(s.result.needs).toContainEqual({ kind: 'load', pool: P1, why: 'ORPHANED' })
  })

  it('R-history-1, R-verify-3: is accepted at the tip only', () => {
    const chain = aged()
    const { s } = chain
    const pools = chain.back([P1])
    const block = s.tip
    chain.mine()
    s.run({ kind: 'look_back', block, pools })
    expect([s.state.pools.has(P1), s.result.needs]).toEqual([
      false,
      [{ kind: 'load', pool: P1, why: 'NOT_AT_TIP' }],
    ])
  })

  it('R-history-1, R-fold-3: is the same after a restart', () => {
    const chain = aged([P1, P2])
    const { s } = chain
    chain.look([P1], {}, false)
    chain.unread(P2, { tradedByMs: ms(s.nowMs - DAY) })
    const keys = [...entityKeys(s.state)]
    const texts = keys.map(key => [key, encodeEntity(s.state, key) as string] as const)
    const restarted = decodeState(s.state.setup, texts)
    expect(texts.map(([key]) => encodeEntity(restarted, key))).toEqual(texts.map(([, text]) => text))
    expect([P1, P2].map(pool => restarted.pools.get(pool)?.state.past)).toEqual(
      [P1, P2].map(pool => s.pool(pool).state.past),
    )
  })

  it('R-history-6: a depth beyond the ticks that were read counts as none, and the pool is complete again after it', () => {
    const s = scenario({ stables: [DAI] })
    s.bornV3(P1, T, DAI, { tick: 0, positions: [[-60_000, 60_000, 10n ** 24n]] })
    s.sim.forget()
    const chain = new Unwatched(s)
    chain.begin()
    for (let n = 0; n < 18; n++) chain.mine(MINUTE)
    s.sim.swap(P1, 0, 10n ** 24n)
    chain.mine(MINUTE)
    const away = s.sim.amm(P1)
    expect(away.family === 'amm_v3' && away.tick).toBeLessThan(-6_000)
    for (let n = 0; n < 10; n++) chain.mine(MINUTE)
    s.sim.swap(P1, 1, 5n * 10n ** 23n)
    chain.mine(MINUTE)
    for (let n = 0; n < 10; n++) chain.mine(MINUTE)
    const whole = chain.back([P1])[0]?.state
    const narrow = s.sim.loaded(P1, { lowest: tick(-6_000), highest: tick(6_000) })
    const near = chain.back([P1], { ticks: narrow.ticks })[0]?.state
    expect([near?.incomplete, near?.depthY, near?.marginal]).toEqual([false, whole?.depthY, whole?.marginal])
    const at = s.tip.timeMs
    const [full, less] = [whole, near].map(each => depthAverage.value(each?.average as DepthAverage, at))
    // Eleven minutes of nothing, twenty-one and eleven of all there is.
    expect((less as bigint) * 100n).toBeLessThan((full as bigint) * 85n)
    expect((less as bigint) * 100n).toBeGreaterThan((full as bigint) * 50n)
  })

  it('R-history-8: that is already followed keeps its own history', () => {
    const chain = aged()
    const { s } = chain
    chain.look([P1])
    s.sell(P1, 1_000n * E18)
    s.mine({ afterMs: MINUTE })
    const before = s.pool(P1).state
    const later = new Unwatched(s)
    later.begin()
    later.look([P1])
    expect(s.pool(P1).state).toEqual(before)
    chain.unread(P1)
    expect(s.pool(P1).state).toEqual(before)
  })

  it('R-history-8, R-rebase-2: returns after a long stop, and its last trade from before it counts', () => {
    const chain = aged()
    const { s } = chain
    chain.look([P1])
    const { lastTradeMs } = s.pool(P1).state
    s.rebase(2 * HOUR)
    const back = new Unwatched(s)
    for (let n = 0; n < 36; n++) back.mine(MINUTE)
    back.look([P1])
    expect(s.pool(P1).state).toMatchObject({ isBeforeGap: false, verified: true, lastTradeMs })
    expect(s.edge(P1).components.temporal.score).toBe(10)
    expect(s.pool(P1).state.trackedSinceMs).toBeLessThanOrEqual(s.tip.timeMs - 35 * MINUTE)
  })
})

describe('the history of a token in a look-back', () => {
  const jumpOf = (s: Scenario): number | null =>
    s.priced(T).confidence.caps.find(({ code }) => code === 'PRICE_JUMP')?.cap ?? null
  const push = ({ s }: Unwatched, pools: readonly Address[]): void => {
    for (const pool of pools) s.buy(pool, (Y * 74n) / 100n)
  }

  it('R-history-9: a price that was pushed and held for ten minutes is compared with the 25 before', () => {
    const chain = aged([P1, P2])
    const { s } = chain
    push(chain, [P1, P2])
    for (let n = 0; n < 10; n++) chain.mine(MINUTE)
    chain.look([P1, P2])
    s.enrol(T)
    expect(s.quote(T).own_past?.covered_ms).toBeGreaterThanOrEqual(35 * MINUTE)
    expect([jumpOf(s), s.score(T)]).toEqual([3, 3])
    // The medians of five minutes believe it by now.
    expect(s.edge(P1).components.temporal.score).toBe(10)
  })

  it('R-history-9: of a token that had none is the folded one, and ends no minute at the tip', () => {
    const chain = aged()
    const { s } = chain
    const touchedMs = s.tip.timeMs
    chain.mine(5 * MINUTE)
    const { past } = chain.fold([P1]).pasts[0] as LookedPast
    chain.look([P1])
    expect(s.token(T).past).toEqual(past)
    expect(past.touchedMs).toBe(touchedMs)
  })

  it('R-history-9, R-history-3: a pool known from its first event only touches its token there', () => {
    const chain = unwatched([P1, P2])
    const { s } = chain
    chain.mine(MINUTE)
    chain.begin()
    const amm = s.sim.amm(P2)
    if (amm.family === 'amm_v2') s.sim.sync(P2, amm.reserve0 + 1n, amm.reserve1)
    chain.mine(MINUTE)
    const touchedMs = s.tip.timeMs
    for (let n = 0; n < 40; n++) chain.mine(MINUTE)
    const { pools, pasts } = chain.fold([P1, P2], {}, true, true)
    expect(pools.map(({ state }) => state.past?.kind)).toEqual(['READ', 'SHORT'])
    expect(pasts.map(({ past }) => past.touchedMs)).toEqual([touchedMs])
  })

  it('R-history-9, R-history-7: a stable has its present value throughout', () => {
    const chain = aged()
    const { s } = chain
    s.stable(USDC, 99_000_000n)
    const [folded] = chain.fold([P1]).pasts
    expect(folded?.past.open.at(-1)?.worth).toEqual({ num: 99_000_000n, den: 100_000_000n * E6 })
  })

  it('R-history-9, R-past-1: its prices are part of the moment of the tip', () => {
    // T in USDC and, a little less, in WETH: when WETH doubles in the same moment the other pool is the median.
    const s = scenario()
    s.bornV2(P3, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6])
    s.mine()
    s.bornV2(P1, [T, X], [USDC, Y], { deployment: 'one' })
    s.bornV2(P2, [T, (X * 101n) / 100n], [WETH, 29_000n * E18], { deployment: 'two' })
    s.sim.forget()
    s.mine()
    s.run({ kind: 'load', block: s.tip, pools: [s.sim.loaded(P3)] })
    const chain = new Unwatched(s)
    chain.begin()
    for (let n = 0; n < 36; n++) chain.mine(MINUTE)
    for (const pool of [P1, P2]) s.sell(pool, E18)
    s.buy(P3, E6)
    chain.follow(MINUTE)
    chain.look([P1, P2])
    const kept = () => s.token(T).past?.open.at(-1)?.y
    const before = kept()
    s.reserves(P3, 100_000n * E18, 400_000_000n * E6)
    s.mine({ afterMs: 0 })
    expect([before, kept()]).toEqual([USDC, WETH])
  })

  it('R-history-9, R-past-6: is removed with its block, and read back after a restart', () => {
    const chain = aged()
    const { s } = chain
    const branch = s.branch()
    chain.mine()
    chain.look([P1])
    const { past } = s.token(T)
    expect(past?.minutes.length).toBeGreaterThan(30)
    const texts = [...entityKeys(s.state)].map(key => [key, encodeEntity(s.state, key) as string] as const)
    expect(decodeState(s.state.setup, texts).tokens.get(T)?.past).toEqual(past)
    s.reorg(branch, [branch.mine()])
    expect(s.token(T).past).toBeNull()
  })

  it('R-history-9: of a followed token only the part before that is used', () => {
    const chain = aged([P1, P2])
    const { s } = chain
    chain.unread(P1)
    s.enrol(T)
    const followedMs = s.tip.timeMs
    for (let n = 0; n < 6; n++) {
      s.sell(P1, E18)
      chain.follow(MINUTE)
    }
    const own = s.token(T).past
    expect(own?.minutes[0]?.fromMs ?? own?.open[0]?.fromMs).toBe(followedMs)
    chain.look([P2])
    const minutes = s.token(T).past?.minutes ?? []
    expect(minutes.filter(({ fromMs }) => fromMs >= followedMs)).toEqual(own?.minutes)
    expect(minutes[0]?.fromMs).toBeLessThan(followedMs - 30 * MINUTE)
    expect(s.quote(T).own_past?.covered_ms).toBeGreaterThanOrEqual(41 * MINUTE)
  })

  it('R-history-9, R-history-4: when one of its pools is not believed, its history begins now', () => {
    const chain = aged([P1, P2])
    const { s } = chain
    const { pools, pasts } = chain.fold([P1, P2], {
      state: { family: 'amm_v2', reserve0: E18, reserve1: E6 },
    })
    expect([pools, pasts]).toEqual([[], []])
    const [looked] = chain.fold([P1]).pools
    s.run({ kind: 'look_back', block: s.tip, pools: [looked as LookedBack], pasts: [] })
    expect([s.token(T).past?.minutes, s.token(T).past?.open[0]?.fromMs]).toEqual([[], s.tip.timeMs])
  })
})

describe('the last trade in a look-back', () => {
  /** T in WETH, and WETH in USDC over a pool that is followed, or is not. */
  function inWeth(isFollowed: boolean, amount: bigint): Unwatched {
    const s = scenario()
    s.bornV2(P1, [T, X], [WETH, 20_000n * E18])
    s.bornV2(P2, [WETH, 20_000n * E18], [USDC, Y])
    s.sim.forget()
    s.mine()
    if (isFollowed) s.run({ kind: 'load', block: s.tip, pools: [s.sim.loaded(P2)] })
    const chain = new Unwatched(s)
    chain.begin()
    for (let n = 0; n < 30; n++) chain.mine(MINUTE)
    s.sell(P1, amount)
    chain.mine(MINUTE)
    for (let n = 0; n < 4; n++) chain.mine(MINUTE)
    return chain
  }
  const tradedAgo = ({ s }: Unwatched): number | null => {
    const { lastTradeMs } = s.pool(P1).state
    return lastTradeMs === null ? null : s.tip.timeMs - lastTradeMs
  }

  it('R-history-7: Y has the value of its hops that are followed now', () => {
    const chain = inWeth(true, 1_000n * E18)
    chain.look([P1])
    expect(tradedAgo(chain)).toBe(4 * MINUTE)
    expect(capsOf(chain.s)).not.toContain('NO_RECENT_TRADE 6')
  })

  it('R-history-7: or of the hops added with it', () => {
    const chain = inWeth(false, 1_000n * E18)
    chain.look([P1, P2])
    expect(tradedAgo(chain)).toBe(4 * MINUTE)
  })

  it('R-history-7, R-trade-2: is unknown when Y has no value, or when the trade is small for the pool', () => {
    const worthless = inWeth(false, 1_000n * E18)
    worthless.look([P1])
    const small = inWeth(true, 4n * E18)
    small.look([P1])
    expect([tradedAgo(worthless), tradedAgo(small)]).toEqual([null, null])
    expect(capsOf(small.s)).toContain('NO_RECENT_TRADE 6')
  })

  it('R-history-1: the pools that value Y stay unchanged', () => {
    const chain = inWeth(true, 1_000n * E18)
    const { s } = chain
    const before = s.pool(P2).state
    chain.back([P1])
    expect(s.pool(P2).state).toBe(before)
    expect([s.state.index.ownPools.get(WETH)?.anchored, s.state.pools.has(P1)]).toEqual([[s.pool(P2)], false])
  })
})

describe('a pool whose history could not be read', () => {
  it('R-history-4: is capped until 35 minutes have been observed, by its own timer', () => {
    const chain = aged()
    const { s } = chain
    chain.unread(P1)
    s.enrol(T)
    expect(capsOf(s)).toContain('HISTORY_UNREAD 3')
    expect(s.priced(T).confidence.score).toBe(3)
    s.quiet(35 * MINUTE - 1)
    expect(capsOf(s)).toContain('HISTORY_UNREAD 3')
    s.quiet(1)
    expect(capsOf(s)).not.toContain('HISTORY_UNREAD 3')
  })

  it('R-history-4: starts from nothing beside one whose history was read, and with its depth when there is none', () => {
    const chain = aged([P1, P2])
    chain.unread(P1)
    const { depthY, average } = chain.s.pool(P1).state
    expect(average?.e).toBe((depthY as bigint) << 32n)
    const beside = aged([P1, P2])
    beside.look([P1])
    beside.unread(P2)
    expect(beside.s.pool(P2).state.average).toMatchObject({ e: 0n, l: beside.s.pool(P2).state.depthY })
  })
})

describe('what an attacker does before anyone asks', () => {
  it('T1, R-history-1: a pool created one minute before its token is requested has earned one minute of weight', () => {
    const chain = unwatched([])
    const { s } = chain
    for (let n = 0; n < 34; n++) chain.mine(MINUTE)
    s.bornV2(P1, [T, X], [USDC, Y])
    chain.mine(MINUTE)
    chain.mine(MINUTE)
    chain.look([P1])
    s.enrol(T)
    const { depthY, average } = s.pool(P1).state
    expect([s.pool(P1).createdMs, average?.t0]).toEqual([s.tip.timeMs - MINUTE, s.tip.timeMs - MINUTE])
    expect((effectiveY(s.pool(P1).state, s.nowMs) as bigint) * 25n).toBeLessThan(depthY as bigint)
    s.quiet(30 * MINUTE)
    expect((effectiveY(s.pool(P1).state, s.nowMs) as bigint) * 2n).toBeGreaterThan(depthY as bigint)
  })

  it('T2, R-history-7: a pool idle for three years is capped from the first answer', () => {
    const chain = unwatched()
    const { s } = chain
    for (let n = 0; n < 36; n++) chain.mine(MINUTE)
    chain.look([P1], { tradedByMs: ms(s.nowMs - 3 * YEAR) })
    s.enrol(T)
    expect(capsOf(s)).toEqual(['SINGLE_POOL_PAIR 8', 'NO_RECENT_TRADE 3'])
    s.sell(P1, 10_000n * E18)
    s.mine()
    expect(capsOf(s)).toEqual(['SINGLE_POOL_PAIR 8'])
  })

  it('T3, R-history-1: a price pushed for one block is compared with the time before it', () => {
    const chain = aged([P1, P2])
    const { s } = chain
    for (const pool of [P1, P2]) s.buy(pool, (Y * 74n) / 100n)
    chain.mine()
    chain.look([P1, P2])
    s.enrol(T)
    expect(s.edge(P1).components.temporal.score).toBe(2)
    expect(s.priced(T).confidence.score).toBeLessThanOrEqual(3)
  })
})
