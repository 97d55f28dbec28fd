/** The calibration itself: that its market is honest, its sums are right and its judgements notice; and a short run of it. */
import * as fc from 'fast-check'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { cases } from '../../packages/engine/testing/cases.ts'
import { v2Out } from '../../packages/engine/testing/byHand.ts'
import { USDC } from '../../packages/engine/testing/cast.ts'
import { address } from '../../packages/engine/testing/chainSim.ts'
import { Chance } from './chance.ts'
import { EXIT_USD, exitUsd } from './exit.ts'
import { compareGraph, type GraphFile } from './graph.ts'
import { liveMarket } from './life.ts'
import type { Sample } from './sample.ts'
import { liveMarkets } from './lives.ts'
import { Market, type MarketToken } from './market.ts'
import { pictureOf } from './picture.ts'
import { drawAnchors, drawPlan, type PoolPlan, type TokenPlan } from './plan.ts'
import { agreeing, attackTable, judge, judgeFlicker, scoreTable, tableOf } from './report.ts'
import { STILL } from './studies.ts'
import { BANDS, decidersOf, fallsOf, quantile, rowsOf } from './statistics.ts'

const GRAPH = '../shared/realdata/graph_v2_mainnet.json'
const TOKEN = address(0x2000)
const SHORT = { seeds: [1, 2, 3, 4], blocks: 60 } as const

const pool = (n: number, depthUsd: number, feePpm = 3000): PoolPlan => ({
  address: address(0x2000 + n),
  token: TOKEN,
  quote: USDC,
  family: 'amm_v2',
  deployment: 'v2-a',
  feePpm,
  depthUsd,
  bornAt: null,
})

function marketWith(pools: readonly PoolPlan[]): { market: Market; token: MarketToken } {
  const token: TokenPlan = { address: TOKEN, decimals: 18, startUsd: 2, habits: STILL, pools }
  const plan = { anchors: drawAnchors(new Chance(1)), tokens: [token], coverageUsd: null, daiUsd: 1 }
  const market = new Market(plan, 1)
  return { market, token: market.tokens[0] as MarketToken }
}

const sample = (part: Partial<Sample>): Sample => ({
  seed: 1,
  token: 0,
  kind: 'honest',
  score: 5,
  exitBps: 10,
  fairBps: 10,
  decider: '',
  isAgreeing: false,
  ...part,
})

describe('the market', () => {
  it('is arbitraged into the fee band of every pool, on either curve, and no further', () => {
    const seeds = fc.integer({ min: 1, max: 1_000_000 })
    const factor = fc.double({ min: 0.7, max: 1.4, noNaN: true })
    fc.assert(
      fc.property(seeds, factor, (seed, moved) => {
        const market = new Market(drawPlan(new Chance(seed)), seed)
        for (const { pools } of market.tokens)
          for (const each of pools) {
            if (!each.isOpen) continue
            each.push(moved, market)
            const fair = market.usd(each.plan.token)
            const before = each.tokenUsd(market) / fair
            expect(Math.abs(before / moved - 1)).toBeLessThan(0.01)
            const isTraded = each.arbitrage(market, 0)
            const after = each.tokenUsd(market) / fair
            // A constant-product pool keeps the fee, which moves its price a little less than the closed form says.
            const slack = 0.01
            expect(after).toBeGreaterThan(each.keep * (1 - slack))
            expect(after).toBeLessThan((1 / each.keep) * (1 + slack))
            if (before > each.keep && before < 1 / each.keep) expect(isTraded).toBe(false)
          }
      }),
      { numRuns: cases(6) },
    )
  })

  it('is the same for the same seed, whatever policy the engine has', () => {
    const prices = (policy?: unknown) => {
      const market = new Market(drawPlan(new Chance(7)), 7, policy)
      for (let n = 0; n < 20; n++) {
        market.act()
        market.mine()
      }
      return market.tokens.map(token => [market.usd(token.plan.address), exitUsd(market, token)])
    }
    expect(prices({ max_hops: 1, min_depth_usd: 1000 })).toEqual(prices())
  })
})

describe('the exit', () => {
  it('of one pool is what ten sales in a row bring by the formula of the contract, and no more than one sale of all', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 1_000_000 }), depthUsd => {
        const { market, token } = marketWith([pool(1, depthUsd)])
        const { amm, tokenSide } = token.pools[0] as MarketToken['pools'][number]
        if (amm.family !== 'amm_v2') throw new Error('a constant-product pool')
        let [own, other] = tokenSide === 0 ? [amm.reserve0, amm.reserve1] : [amm.reserve1, amm.reserve0]
        const [part, whole] = [50n * 10n ** 18n, v2Out(own, other, 500n * 10n ** 18n)]
        let sum = 0n
        for (let n = 0; n < 10; n++) {
          const out = v2Out(own, other, part)
          ;[own, other, sum] = [own + part, other - out, sum + out]
        }
        const perToken = (out: bigint) => Number(out) / 1e6 / (EXIT_USD / 2)
        expect(exitUsd(market, token)).toBeCloseTo(perToken(sum), 10)
        expect(sum).toBeLessThanOrEqual(whole)
      }),
      { numRuns: cases(20) },
    )
  })

  it('is split over the available pools: never less than the best alone pays', () => {
    const alone = [pool(1, 500), pool(2, 700, 2500)].map(each => {
      const { market, token } = marketWith([each])
      return exitUsd(market, token)
    })
    const { market, token } = marketWith([pool(1, 500), pool(2, 700, 2500)])
    expect(exitUsd(market, token)).toBeGreaterThan(Math.max(...alone) * 1.005)
  })

  it('is zero when there is nothing to sell into', () => {
    const { market, token } = marketWith([{ ...pool(1, 500), bornAt: 9 }])
    expect(exitUsd(market, token)).toBe(0)
  })
})

describe('the sums', () => {
  const errors = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 60 })
  const share = fc.constantFrom(0.5, 0.9, 0.99)

  it('a quantile is the least value with so many at or below it', () => {
    fc.assert(
      fc.property(errors, share, (values, q) => {
        const ascending = values.toSorted((a, b) => a - b)
        const found = quantile(ascending, q)
        expect(values.filter(value => value <= found).length).toBeGreaterThanOrEqual(q * values.length)
        expect(values.filter(value => value < found).length).toBeLessThan(q * values.length)
      }),
      { numRuns: cases(100) },
    )
    expect(quantile([], 0.9)).toBeNaN()
  })

  it('rows have every priced sample once, and no refused one', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 10 })), scores => {
        const rows = rowsOf(scores.map(score => sample({ score })))
        const counted = rows.map(row => row.samples)
        expect(counted).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(s => scores.filter(x => x === s).length))
      }),
      { numRuns: cases(50) },
    )
  })

  /** Thirty markets with ten samples in each band, whose error is that of the band. */
  const bands = (errorOf: (band: number, market: number) => number): Sample[] =>
    Array.from({ length: 30 }, (_, market) =>
      BANDS.flatMap(([low], band) =>
        Array.from({ length: 10 }, () =>
          sample({ seed: market, score: low, exitBps: errorOf(band, market) }),
        ),
      ),
    ).flat()

  it('an error that falls in every market is detected, one that rises or stays is not', () => {
    expect(
      fallsOf(
        bands(band => 100 - band),
        1,
      ).map(({ holds }) => holds),
    ).toEqual([true, true, true])
    const turned = fallsOf(
      bands(band => (band === 3 ? 200 : 100 - band)),
      1,
    )
    expect(turned.map(({ holds }) => holds)).toEqual([true, true, false])
    expect(turned[2]).toMatchObject({ from: [5, 6], to: [7, 8], p90: [98, 200], share: 0 })
    expect(
      fallsOf(
        bands(() => 7),
        1,
      ).some(({ holds }) => holds),
    ).toBe(false)
  })

  it('a fall that depends on one market alone is not certain', () => {
    const [first] = fallsOf(
      bands((band, market) => (band === 0 && market === 0 ? 100 : 50 - band)),
      1,
    )
    expect(first?.p90).toEqual([50, 49])
    const loud = bands((band, market) => (band === 0 ? (market < 4 ? 100 : 1) : 50 - band))
    const [hanging] = fallsOf(loud, 1)
    expect(hanging?.p90).toEqual([100, 49])
    expect(hanging?.holds).toBe(false)
    expect(hanging?.share).toBeGreaterThan(0.3)
  })

  it('a band without samples has no fall', () => {
    expect(fallsOf([sample({ score: 1 })], 1).some(({ holds }) => holds)).toBe(false)
  })

  it('judges the market with attacks too, and the share that was refused', () => {
    const falling = bands(band => 1000 - 100 * band)
    expect(judge(falling, 1).every(({ holds }) => holds)).toBe(true)
    const believed = Array.from({ length: 300 }, (_, n) =>
      sample({ seed: n % 30, kind: 'push', score: 7, exitBps: 5000 }),
    )
    expect(judge([...falling, ...believed], 1).map(({ holds }) => holds)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
      true,
    ])
    const refused = Array.from({ length: 40 }, (_, n) => sample({ seed: n % 30, score: 0 }))
    expect(judge([...falling, ...refused], 1).at(-1)).toEqual({
      holds: false,
      text: '3.23% of the honest samples refused, at most 2%',
    })
  })

  it('lists the deciding rules, most frequent first, and what attacks reached', () => {
    const samples = [
      sample({ decider: 'a' }),
      sample({ decider: 'b', exitBps: 3 }),
      sample({ decider: 'b', exitBps: 4 }),
    ]
    expect(decidersOf(samples, [5, 6])).toEqual([
      ['b', 2, 4],
      ['a', 1, 10],
    ])
    const attacked = [
      ...samples,
      sample({ kind: 'push', score: 7, fairBps: 501 }),
      sample({ kind: 'push', score: 3, fairBps: 9000 }),
    ]
    expect(
      attackTable(attacked)
        .at(-1)
        ?.split(/\s*\|\s*/),
    ).toEqual(['', 'push', '2', '7', '5.00', '1', ''])
  })
})

test('the picture shows every score, in light and in dark', () => {
  const rows = rowsOf([
    sample({ score: 3, exitBps: 100, fairBps: 1 }),
    sample({ score: 9, exitBps: Infinity }),
  ])
  const svg = pictureOf(rows, 'Errors')
  for (const { score } of rows) expect(svg).toContain(`text-anchor="middle">${score}</text>`)
  expect(svg.split('>none<').length - 1).toBe(8)
  expect(svg).toContain('prefers-color-scheme:dark')
  expect(svg).not.toMatch(/NaN|Infinity|undefined/)
})

test('a token that flickers fails by name, and stable ones are counted', () => {
  const flicker = (name: string, changes: number) => ({ name, changes, least: 2, most: 7 })
  const verdicts = judgeFlicker([flicker('a', 0), flicker('b', 2), flicker('c', 3)])
  expect(verdicts.map(({ holds }) => holds)).toEqual([true, false])
  expect(verdicts[0]?.text).toContain('2 of 3 tokens under noise and passing depth: at most 2 changes')
  expect(verdicts[1]?.text).toContain('c: 3 changes')
})

test('a table has columns of one width', () => {
  const lines = tableOf(
    ['a', 'bcd'],
    [
      ['long cell', '1'],
      ['x', '12345'],
    ],
  )
  expect(new Set(lines.map(line => line.length)).size).toBe(1)
  expect(lines[1]).toBe('|-----------|------:|')
})

describe('a short run', () => {
  const lives = SHORT.seeds.map(seed => ({ seed, blocks: SHORT.blocks }))
  const run = liveMarkets(lives, 2)

  it('gives the same samples again, with a thread or without one', async () => {
    const all = await run
    const own = all.filter(({ seed }) => seed === 2)
    expect(liveMarket({ seed: 2, blocks: SHORT.blocks })).toEqual(own)
    expect(all.map(({ seed }) => seed)).toEqual(all.map(({ seed }) => seed).toSorted((a, b) => a - b))
    expect(new Set(all.map(({ exitBps }) => exitBps)).size).toBeGreaterThan(all.length / 2)
  })

  it('has errors against a seller of 1,000 USD that fall over the lower bands, and refuses no honest token', async () => {
    const all = await run
    const honest = all.filter(({ kind }) => kind === 'honest')
    expect(honest.length).toBeGreaterThan(400)
    expect(honest.filter(({ score }) => score === 0).length / honest.length).toBeLessThanOrEqual(0.02)
    const [low, middle] = fallsOf(honest, 1)
    expect(low?.p90[0]).toBeGreaterThan(low?.p90[1] as number)
    expect(middle?.p90[0]).toBeGreaterThan(middle?.p90[1] as number)
    expect(scoreTable(rowsOf(all))).toHaveLength(12)
    expect(agreeing(all).samples).toBeGreaterThan(0)
  })
})

test.runIf(existsSync(GRAPH))('a graph of real pairs is priced as its deepest pools say', () => {
  const found = compareGraph(JSON.parse(readFileSync(GRAPH, 'utf8')) as GraphFile)
  expect(found.priced).toBeGreaterThanOrEqual(938)
  expect(found.within1).toBeGreaterThanOrEqual(927)
  expect(found.further.length).toBeLessThanOrEqual(1)
  expect(found.holds).toBe(true)
})
