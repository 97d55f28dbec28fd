import { describe, expect, test } from 'vitest'
import { DRAINED_SHARE } from './shape.ts'
import { createMarket, type Market, type MarketPool } from './market.ts'

const WRAPPED = 3
const STABLES = 3
const TAIL = 6

/** The figures are those of the first 10,773 pairs of the Uniswap v2 factory; see shape.ts. */
describe('a market of one family with the size of the counted factory has its shape', () => {
  const market = createMarket({ seed: 7, tokens: 9_170, pools: 10_773, v3Share: 0 })
  const tail = market.pools.filter(pool => !pool.isAnchor)

  test('most pools are with the wrapped native token, the rest with stables or other tokens', () => {
    expectShare(
      share(market.pools, pool => hasToken(pool, WRAPPED)),
      0.819,
      0.01,
    )
    expectShare(share(market.pools, hasStableOnly), 0.089, 0.01)
  })

  test('nine of ten tokens have one pool, a few have many', () => {
    const degrees = degreesOf(market)
    expectShare(
      share(degrees, degree => degree === 1),
      0.901,
      0.02,
    )
    const tailDegrees = degrees.slice(TAIL).sort((a, b) => b - a)
    expect(tailDegrees[0]).toBeGreaterThan(40)
    expect(tailDegrees[0]).toBeLessThan(200)
    expect(tailDegrees[100]).toBeGreaterThan(3)
    expect(tailDegrees[100]).toBeLessThan(9)
  })

  test('two thirds are drained, and the others have a heavy tail', () => {
    const sizes = tail.filter(pool => Math.min(...pool.places) <= WRAPPED).map(pool => pool.sideUsd)
    expectShare(
      share(sizes, size => size < 1),
      0.65,
      0.04,
    )
    expectShare(
      share(sizes, size => size >= 5_000),
      0.109,
      0.03,
    )
    expectShare(
      share(sizes, size => size >= 500_000),
      0.0084,
      0.005,
    )
  })

  test('decimals are mixed as on the real chain', () => {
    expectShare(
      share(market.tokens, token => token.decimals === 18),
      0.841,
      0.02,
    )
    expectShare(
      share(market.tokens, token => token.decimals === 8),
      0.054,
      0.01,
    )
    expectShare(
      share(market.tokens, token => token.decimals === 0),
      0.025,
      0.01,
    )
  })
})

describe('a market of both families', () => {
  const market = createMarket({ seed: 7, tokens: 2_000, pools: 4_000 })

  test('has the asked number of tokens and pools, all different', () => {
    expect(market.tokens.length).toBe(2_000)
    expect(new Set(market.tokens.map(token => token.address)).size).toBe(2_000)
    expect(new Set(market.pools.map(pool => pool.born.address)).size).toBe(4_000)
    const identities = market.pools.map(({ born, terms }) => {
      const fee = terms.family === 'amm_v3' ? terms.feePpm : 'v2'
      return [born.deploymentId, fee, born.token0, born.token1].join()
    })
    expect(new Set(identities).size).toBe(4_000)
    for (const { born } of market.pools) expect(born.token0 < born.token1).toBe(true)
  })

  test('has several deployments, every fee tier, and v3 pools of one tick to hundreds', () => {
    expect(new Set(market.pools.map(pool => pool.born.deploymentId)).size).toBe(3)
    const v3 = market.pools.flatMap(({ terms }) => (terms.family === 'amm_v3' ? [terms] : []))
    expectShare(v3.length / 4_000, 0.4, 0.03)
    expect(new Set(v3.map(terms => terms.feePpm))).toEqual(new Set([100n, 500n, 3_000n, 10_000n]))
    const ticks = v3.map(terms => terms.book.size).filter(size => size > 0)
    expect(Math.min(...ticks)).toBeGreaterThanOrEqual(2)
    expect(Math.max(...ticks)).toBeGreaterThan(200)
  })

  test('gives each routing asset six to twelve pools with what comes before it, of both families', () => {
    for (const asset of [3, 4, 5]) {
      const own = market.pools.filter(pool => pool.isAnchor && Math.max(...pool.places) === asset)
      expect(own.length).toBeGreaterThanOrEqual(6)
      expect(own.length).toBeLessThanOrEqual(12)
      expect(new Set(own.map(pool => pool.terms.family)).size).toBe(2)
      expect(new Set(own.map(pool => pool.born.deploymentId)).size).toBeGreaterThanOrEqual(2)
    }
  })

  test('can be created without drained tokens', () => {
    const live = createMarket({ seed: 7, tokens: 200, pools: 300, drainedShare: 0, leastUsd: 10_000 })
    expect(Math.min(...live.tokens.map(token => token.sizeUsd))).toBeGreaterThanOrEqual(10_000)
    expectShare(
      share(market.tokens, token => token.sizeUsd === 0),
      DRAINED_SHARE,
      0.05,
    )
  })
})

test('a seed determines the market', () => {
  const [one, again, other] = [1, 1, 2].map(seed => textOf(createMarket({ seed, tokens: 300, pools: 500 })))
  expect(again).toBe(one)
  expect(other).not.toBe(one)
})

test('any seed gives a market', () => {
  for (let seed = 0; seed < 20; seed++) createMarket({ seed, tokens: 500, pools: 1_000, v3Share: 0.9 })
})

test('too few pools for the tokens are refused', () => {
  expect(() => createMarket({ seed: 1, tokens: 100, pools: 50 })).toThrow('100 tokens need at least')
})

test('a hundred thousand pools are made in memory', { timeout: 120_000 }, () => {
  const market = createMarket({ seed: 1, tokens: 50_000, pools: 100_000 })
  expect(market.pools.length).toBe(100_000)
})

function expectShare(received: number, expected: number, tolerance: number): void {
  expect(received).toBeGreaterThan(expected - tolerance)
  expect(received).toBeLessThan(expected + tolerance)
}

function share<Each>(all: readonly Each[], isMeant: (each: Each) => boolean): number {
  return all.filter(isMeant).length / all.length
}

const hasStableOnly = (pool: MarketPool): boolean =>
  Math.min(...pool.places) < STABLES && !hasToken(pool, WRAPPED)

const hasToken = (pool: MarketPool, place: number): boolean => pool.places.includes(place)

function degreesOf({ tokens, pools }: Market): number[] {
  const degrees = tokens.map(() => 0)
  for (const { places } of pools) for (const place of places) (degrees[place] as number)++
  return degrees
}

function textOf(market: Market): string {
  const pools = market.pools.map(pool => ({
    ...pool,
    ticks: pool.terms.family === 'amm_v3' ? pool.terms.book.entries() : null,
  }))
  const { setup, tokens } = market
  return JSON.stringify({ setup, tokens, pools }, (_, each: unknown) =>
    typeof each === 'bigint' ? each.toString() : each,
  )
}
