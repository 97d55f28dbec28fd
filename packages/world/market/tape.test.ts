import { beforeAll, describe, expect, test } from 'vitest'
import { createState } from '../../engine/createState.ts'
import { step } from '../../engine/engine.ts'
import type { Block } from '../../engine/chain/block.ts'
import type { State } from '../../engine/state.ts'
import { bringUp } from './bringUp.ts'
import { createMarket, type Market } from './market.ts'
import { finality, Tape } from './tape.ts'
import { priceOf } from './trade.ts'

const BLOCKS = 200
const SWAPS = 60

const isSwap = ({ event }: Block['events'][number]): boolean => event.kind === 'SWAP'

describe('an engine that follows two hundred blocks', { timeout: 120_000 }, () => {
  let market: Market
  let state: State
  const blocks: Block[] = []
  const needs: string[] = []

  beforeAll(() => {
    market = createMarket({ seed: 11, tokens: 600, pools: 1_200, blockMs: 450 })
    state = createState(market.setup)
    for (const input of bringUp(market)) for (const need of step(state, input).needs) needs.push(need.kind)
    const inputs = new Tape(market, { swapsPerBlock: SWAPS, liquidityShare: 0.05 }).inputs()
    for (let at = 0; at < BLOCKS; at++) {
      const input = inputs.next().value
      blocks.push(input.block)
      for (const need of step(state, input).needs) needs.push(need.kind)
      const final = blocks.at(-16)
      if (at % 32 === 31 && final !== undefined) step(state, finality(final, input.atMs))
    }
  }, 120_000)

  test('finds that every event recomputes, and asks for nothing', () => {
    const doubtful = [...state.pools.values()].filter(pool => !pool.state.verified || pool.state.incomplete)
    expect(doubtful.map(pool => [pool.address, pool.state.differences])).toEqual([])
    expect(needs).toEqual([])
  })

  test('is in the same state as the market', () => {
    expect(state.pools.size).toBe(1_200)
    for (const { born, amm, terms } of market.pools) {
      const pool = state.pools.get(born.address)
      expect(pool?.state.amm).toEqual(amm)
      if (terms.family === 'amm_v3' && pool?.terms.family === 'amm_v3')
        expect(pool.terms.book.entries()).toEqual(terms.book.entries())
    }
  })

  test('has prices for the routing assets and for the tokens that are not drained', () => {
    const prices = [...state.tokens.values()].map(token => token.published?.compact.state)
    expect(prices.slice(0, 6)).toEqual(Array(6).fill('PRICED'))
    const priced = prices.filter(each => each === 'PRICED').length
    expect(priced).toBeGreaterThan(40)
    expect(priced).toBeLessThan(300)
  })

  test('sees swaps, mints and burns of both families', () => {
    const kinds = new Set(
      blocks.flatMap(block => block.events.map(each => `${each.family} ${each.event.kind}`)),
    )
    expect([...kinds].sort()).toEqual([
      'amm_v2 BURN',
      'amm_v2 MINT',
      'amm_v2 SWAP',
      'amm_v2 SYNC',
      'amm_v3 BURN',
      'amm_v3 MINT',
      'amm_v3 SWAP',
    ])
  })

  test('gets the asked number of swaps in every block, a fifth of them on anchors', () => {
    for (const block of blocks) expect(block.events.filter(isSwap).length).toBe(SWAPS)
    const anchors = new Set(market.pools.filter(pool => pool.isAnchor).map(pool => pool.born.address))
    // Without the blocks in which the anchors move: there most swaps are theirs.
    const swaps = blocks.filter((_, at) => at % 20 !== 19).flatMap(block => block.events.filter(isSwap))
    const onAnchors = swaps.filter(each => anchors.has(each.pool)).length / swaps.length
    expect(Math.abs(onAnchors - 0.2)).toBeLessThan(0.02)
  })

  test('sees a few pools trade most of the time and most pools never', () => {
    const counts = new Map<string, number>()
    for (const block of blocks)
      for (const each of block.events)
        if (isSwap(each)) counts.set(each.pool, (counts.get(each.pool) ?? 0) + 1)
    expect(counts.size).toBeLessThan(market.pools.length / 2)
    const busiest = [...counts.values()].sort((a, b) => b - a).slice(0, 30)
    expect(busiest.reduce((sum, each) => sum + each, 0) / (BLOCKS * SWAPS)).toBeGreaterThan(0.4)
  })
})

test('all pools of the first routing asset with stables move together, by the requested amount', () => {
  const market = createMarket({ seed: 3, tokens: 100, pools: 200 })
  const tape = new Tape(market, { swapsPerBlock: 100, anchorMove: { everyBlocks: 20, leastBps: 20 } })
  const pools = market.pools.filter(pool => pool.isAnchor && Math.max(...pool.places) === 3)
  expect(pools.length).toBe(11)
  for (let at = 0; at < 200; at++) {
    const before = pools.map(priceOf)
    tape.next()
    if (at % 20 !== 19) continue
    const movesBps = pools.map((pool, place) => 1e4 * Math.log(priceOf(pool) / (before[place] as number)))
    // By weight: nine of eleven, as a shallow pool with a high fee may have been away from the rest.
    expect(movesBps.filter(move => Math.abs(move) >= 20).length).toBeGreaterThanOrEqual(9)
  }
})

test('without a move the anchors stay unchanged', () => {
  const market = createMarket({ seed: 3, tokens: 100, pools: 200 })
  const tape = new Tape(market, { swapsPerBlock: 100, anchorMove: null, anchorShare: 0 })
  const anchors = market.pools.filter(pool => pool.isAnchor)
  const before = anchors.map(priceOf)
  for (let at = 0; at < 40; at++) tape.next()
  expect(anchors.map(priceOf)).toEqual(before)
})

test('a seed determines the blocks', () => {
  expect(blocksOf(5)).toBe(blocksOf(5))
  expect(blocksOf(6)).not.toBe(blocksOf(5))
})

test('only the pools that are to trade do', () => {
  const market = createMarket({ seed: 4, tokens: 300, pools: 600 })
  const active = market.pools.filter(pool => !pool.isAnchor && pool.sideUsd > 1_000).slice(0, 20)
  const tape = new Tape(market, { swapsPerBlock: 40, anchorShare: 0, anchorMove: null, active })
  const allowed = new Set(active.map(pool => pool.born.address))
  for (let at = 0; at < 10; at++)
    for (const each of tape.next().events) expect(allowed.has(each.pool)).toBe(true)
})

function blocksOf(seed: number): string {
  const market = createMarket({ seed, tokens: 100, pools: 200 })
  const tape = new Tape(market, { swapsPerBlock: 30 })
  const blocks = Array.from({ length: 25 }, () => tape.next())
  return JSON.stringify(blocks, (_, each: unknown) => (typeof each === 'bigint' ? each.toString() : each))
}
