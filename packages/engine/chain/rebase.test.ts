/** A start at the head after a long stop (R-rebase-1): nothing is priced by what was known before, and the laws hold. */
import type { EntityKey } from '../entities.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeState, encodeEntity, entityKeys } from '../stored/codec.ts'
import { createState } from '../createState.ts'
import { step } from '../engine.ts'
import type { Input } from '../input.ts'
import type { State } from '../state.ts'
import { cases } from '../testing/cases.ts'
import { DAI, E18, E6, HOUR, MINUTE, P1, P2, P3, T, U, USDC } from '../testing/cast.ts'
import { currentState } from '../testing/currentState.ts'
import { randomLife } from '../testing/randomLife.ts'
import { SETUP } from '../testing/randomMarket.ts'
import { TICK_FAMILIES } from '../testing/tickFamilies.ts'
import { type Scenario, scenario } from '../testing/scenario.ts'

const X = 30_000_000n * E18
const Y = 60_000_000n * E6

/** One token with a v2 pool that has a past: a trade, and an average that still climbs. */
function market(): Scenario {
  const s = scenario({ routing: [] })
  s.v2(P1, [T, X], [USDC, Y])
  s.enrol(T)
  s.quiet(HOUR)
  s.sell(P1, 1_000n * E18)
  s.mine()
  return s
}

const prices = (s: Scenario) =>
  s.result.records
    .filter(({ type }) => type === 'PRICE_UPSERT' || type === 'PRICE_RETRACT')
    .map(({ type, payload }) => {
      const { scope, reason, current } = payload as Record<string, unknown>
      return { type, scope, reason: (reason as string | undefined) ?? null, current }
    })

describe('R-rebase-2, R-rebase-3: a rebase', () => {
  it('withdraws every price as FEED, shows every pool as unverified, and requests all of them', () => {
    const s = market()
    s.rebase(HOUR)
    expect(s.result.records.map(({ type }) => type)).toEqual([
      'FEED_HEALTH',
      'PRICE_UPSERT',
      'PRICE_RETRACT',
      'PRICE_RETRACT',
    ])
    expect(prices(s).slice(1)).toMatchObject([
      { scope: 'token', reason: 'FEED', current: { state: 'UNPRICED', reason: 'FEED' } },
      { scope: 'token', reason: 'FEED', current: { state: 'UNPRICED', reason: 'FEED' } },
    ])
    expect(s.poolText(P1)).toMatchObject({ finality: 'unverified', score: 0, marginal: null })
    expect(s.result.needs).toEqual([{ kind: 'load', pool: P1, why: 'REBASED' }])
    expect(s.result.orphaned).toEqual([])
    expect(s.state.chain.tip).toEqual(s.tip)
  })

  it('prices nothing before the pool is loaded, whatever its events and the feed report', () => {
    const s = market()
    s.rebase(HOUR)
    s.sell(P1, 5_000n * E18)
    s.mine()
    expect(s.result.records.map(({ type }) => type)).toEqual(['SWAP_OBSERVED'])
    expect(s.result.needs).toEqual([{ kind: 'load', pool: P1, why: 'REBASED' }])
    s.health('HEALTHY')
    expect(s.published(T)).toMatchObject({ state: 'UNPRICED', reason: 'NO_ROUTE' })
  })

  it('gives the price of the loaded state once the feed has recovered', () => {
    const s = market()
    s.reserves(P1, X, 2n * Y)
    s.rebase(HOUR)
    s.load(P1)
    expect(s.result.records.map(({ type }) => type)).toEqual(['PRICE_UPSERT'])
    s.health('HEALTHY')
    expect(s.priced(T).price_usd.display).toMatch(/^3\.9/)
  })

  it('breaks the histories of a pool, and keeps when it traded and when it was created', () => {
    const s = scenario()
    s.bornV2(P1, [T, X], [USDC, Y])
    s.mine()
    s.quiet(HOUR)
    s.sell(P1, 1_000n * E18)
    const { timeMs: tradedMs } = s.mine()
    const { createdBlock, createdMs } = s.pool(P1)
    s.rebase(HOUR)
    s.load(P1)
    const { state, ...pool } = s.pool(P1)
    expect(pool).toMatchObject({ createdBlock, createdMs })
    expect(state).toMatchObject({
      lastTradeMs: tradedMs,
      trackedSinceMs: s.tip.timeMs,
      changed: s.tip,
      verified: true,
      isBeforeGap: false,
      jump: { jump: null },
    })
    const { depthY } = state
    expect(state.average).toEqual({ e: (depthY as bigint) << 32n, l: depthY, t0: s.tip.timeMs })
    s.health('HEALTHY')
    expect(s.edge(P1).components.temporal).toMatchObject({ coveredMs: 0, median: null })
  })

  it('R-trade-3: measures no trade of a pool that waits to be loaded: its last known trade stays', () => {
    const s = market()
    s.rebase(HOUR)
    s.sell(P1, 5_000n * E18)
    const { lastTradeMs } = s.pool(P1).state
    s.mine()
    s.mine()
    s.load(P1)
    expect(s.pool(P1).state).toMatchObject({ lastTradeMs, changed: s.tip })
  })

  it('reads ticks again: what was known of them before the gap is dropped', () => {
    const s = scenario({ stables: [DAI] })
    s.decimals(T, 18)
    s.v3(P2, T, DAI, { positions: [[-600, 600, 10n ** 24n]] })
    s.enrol(T)
    s.sim.liquidity(P2, -600, 600, -(10n ** 24n))
    s.sim.liquidity(P2, -1200, 1200, 10n ** 23n)
    s.rebase(HOUR)
    s.load(P2)
    const { terms } = s.pool(P2)
    expect(terms.family === 'amm_v3' && terms.book.entries().map(({ tick }) => tick)).toEqual([-1200, 1200])
    expect(s.pool(P2).state).toMatchObject({ verified: true, incomplete: false })
  })

  it('names the blocks of the gap, the head among them, and drops the oldest of very many', () => {
    const s = market()
    const stopped = s.tip
    s.rebase(HOUR)
    expect(s.state.gaps).toEqual([
      { fromBlock: stopped.number + 1, toBlock: s.tip.number, afterHash: stopped.hash, atMs: s.nowMs },
    ])
    for (let n = 0; n < 70; n++) s.rebase(HOUR)
    expect(s.state.gaps).toHaveLength(64)
    expect(s.state.gaps.at(-1)?.toBlock).toBe(s.tip.number)
  })

  it('settles a pool that was loaded at the new head when that block becomes final', () => {
    const s = market()
    s.rebase(HOUR)
    s.load(P1)
    s.health('HEALTHY')
    s.mine()
    s.finalize()
    expect(s.poolText(P1)).toMatchObject({ finality: 'finalized' })
    expect(s.state.journals).toEqual([])
  })
})

describe('R-rebase-4: a rebase from a branch that was orphaned', () => {
  it('withdraws its swaps and pools, and as REORG the prices based on blocks that are not final', () => {
    const s = market()
    s.finalize()
    const before = s.branch('other')
    const kept = s.tip
    s.sell(P1, 2_000n * E18)
    const lost = s.mine()
    s.bornV2(P3, [U, X], [USDC, Y])
    s.mine()
    s.rebase(HOUR, { sim: before, ancestor: kept.hash })
    const kinds = s.result.records.map(({ type, payload }) => [
      type,
      (payload as { reason?: string; finality?: string }).reason ??
        (payload as { finality?: string }).finality ??
        null,
    ])
    expect(kinds).toEqual([
      ['FEED_HEALTH', null],
      ['SWAP_OBSERVED', 'orphaned'],
      ['PRICE_RETRACT', 'REORG'],
      ['PRICE_RETRACT', 'POOL_ORPHANED'],
      ['PRICE_RETRACT', 'FEED'],
      ['PRICE_RETRACT', 'REORG'],
    ])
    expect(s.result.orphaned).toContain(lost.hash)
    expect(s.state.pools.has(P3)).toBe(false)
    expect(s.result.needs).toContainEqual({ kind: 'load', pool: P3, why: 'ORPHANED' })
    expect(s.state.gaps).toMatchObject([{ fromBlock: kept.number + 1, afterHash: kept.hash }])
  })

  it('withdraws records of surviving blocks as well, and retracts only those of orphaned ones', () => {
    const s = market()
    s.finalize()
    s.sell(P1, 3_000n * E18)
    const kept = s.mine()
    const branch = s.branch('other')
    const lost = s.mine()
    s.rebase(HOUR, { sim: branch, ancestor: kept.hash })
    expect(prices(s).map(({ type, reason }) => [type, reason])).toEqual([
      ['PRICE_RETRACT', 'REORG'],
      ['PRICE_RETRACT', 'FEED'],
      ['PRICE_RETRACT', 'REORG'],
    ])
    expect(s.result.orphaned).toEqual([lost.hash])
  })

  it('may be repeated when the head it started from is orphaned: the two gaps become one', () => {
    const s = market()
    const stopped = s.tip
    const branch = s.branch('other')
    s.rebase(HOUR)
    s.load(P1)
    s.v2(P2, [U, X], [USDC, Y])
    s.mine()
    s.rebase(2 * HOUR, { sim: branch, ancestor: stopped.hash })
    expect(s.state.gaps).toMatchObject([{ fromBlock: stopped.number + 1, toBlock: s.tip.number }])
    expect(s.state.pools.has(P2)).toBe(false)
    expect(s.pool(P1).state).toMatchObject({ verified: false, isBeforeGap: true })
  })

  it('lets blocks after the new head be reorganised: a pool loaded in them is requested again', () => {
    const s = market()
    s.rebase(HOUR)
    const branch = s.branch('other')
    s.mine()
    s.load(P1)
    s.reorg(branch, [branch.mine(), branch.mine()])
    expect(s.pool(P1).state).toMatchObject({ verified: false, isBeforeGap: true })
    expect(s.result.needs).toEqual([{ kind: 'load', pool: P1, why: 'REBASED' }])
    s.load(P1)
    s.health('HEALTHY')
    expect(s.published(T).state).toBe('PRICED')
  })

  it('may replace the very first block', () => {
    const s = scenario({ routing: [] })
    const [first] = s.state.journals
    if (first === undefined) throw new Error('it has a first block')
    s.mine()
    s.rebase(HOUR, { ancestor: first.parentHash })
    expect(s.state.gaps).toMatchObject([{ fromBlock: first.block.number, afterHash: first.parentHash }])
    expect(s.result.orphaned).toHaveLength(2)
    s.mine()
    expect(s.state.chain.tip).toEqual(s.tip)
  })

  it('does not go back below the finalized block', () => {
    const s = market()
    const branch = s.branch('other')
    const kept = s.tip
    s.mine()
    s.finalize()
    s.mine()
    expect(() => s.rebase(HOUR, { sim: branch, ancestor: kept.hash })).toThrow(/below the finalized/)
  })
})

describe('R-rebase-1, R-fold-4, R-fold-5, R-fold-6: a life with long stops in it', () => {
  const lives = { rounds: 35, maxDepth: 6, stopChance: 0.08 } as const
  const seeds = fc.integer({ min: 0, max: 2 ** 31 })
  const snapshot = (state: State): [EntityKey, string][] =>
    [...entityKeys(state)].map(key => [key, encodeEntity(state, key) as string])
  const isStop = ({ kind }: Input): boolean => kind === 'rebase_head'

  it('has stops, on surviving branches and on others', () => {
    const stops = Array.from({ length: 20 }, (_, seed) =>
      randomLife(seed, { ...lives, families: TICK_FAMILIES }).life.filter(isStop),
    ).flat()
    expect(stops.length).toBeGreaterThan(20)
  })

  it('gives the same bytes, continues the same after a restart anywhere, and names everything that changed', () => {
    fc.assert(
      fc.property(seeds, fc.array(fc.nat(60), { minLength: 1, maxLength: 3 }), (seed, restarts) => {
        const { life } = randomLife(seed, { ...lives, families: TICK_FAMILIES })
        const [whole, again] = [createState(SETUP), { state: createState(SETUP) }]
        const stored = new Map<EntityKey, string>(snapshot(whole))
        for (const [at, input] of life.entries()) {
          if (restarts.some(restart => restart % life.length === at))
            again.state = decodeState(SETUP, snapshot(again.state))
          const result = step(whole, input)
          expect(JSON.stringify(step(again.state, input))).toBe(JSON.stringify(result))
          for (const key of result.changed) {
            const text = encodeEntity(whole, key)
            if (text === null) stored.delete(key)
            else if (!key.startsWith('quote/')) stored.set(key, text)
          }
        }
        expect([...stored].sort()).toEqual(snapshot(whole).sort())
      }),
      { numRuns: cases(60) },
    )
  })

  it('ends like one that only ever saw the final chain', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const { life, survivors, endMs } = randomLife(seed, {
          families: TICK_FAMILIES,
          ...lives,
          reorgChance: 0.3,
        })
        const [through, straight] = [life, survivors].map(inputs => {
          const state = createState(SETUP)
          for (const input of inputs) step(state, input)
          step(state, { kind: 'timer', atMs: endMs })
          return currentState(state, endMs)
        })
        expect(through).toEqual(straight)
      }),
      { numRuns: cases(100) },
    )
  })
})

it('R-rebase-2: a rebase of a chain that was priced for minutes only starts its averages at the load', () => {
  const s = scenario()
  s.bornV2(P1, [T, X], [USDC, Y])
  s.mine()
  s.quiet(5 * MINUTE)
  s.rebase(40 * MINUTE)
  s.load(P1)
  const { average, depthY } = s.pool(P1).state
  expect(average).toMatchObject({ e: (depthY as bigint) << 32n })
})
