/**
 * Moments as the fold books them: against the definition (`testing/plainVisits.ts`), against vectors of
 * `python3 packages/engine/oracle/visits.py > packages/engine/oracle/visits.json`, and as attacks meet them.
 */
import { adapterOf, type PoolTerms } from '../amm/families.ts'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createState } from '../createState.ts'
import { step } from '../engine.ts'
import type { Pool } from '../entities.ts'
import * as fraction from '../exact/fraction.ts'
import type { Input } from '../input.ts'
import { reference } from '../memory/tapeMedian.ts'
import { memory } from '../memory/switch.ts'
import { append, changesOf, EMPTY } from '../memory/temporalTape.ts'
import json from '../oracle/visits.json' with { type: 'json' }
import { DEPTH_BOUNDARY } from '../rules/depthBoundary.ts'
import * as depthAverage from '../rules/depthAverage.ts'
import { WINDOW_MS } from '../rules/temporalWindow.ts'
import * as byHand from '../testing/byHand.ts'
import { cases } from '../testing/cases.ts'
import { DAI, E18, E6, MINUTE, P1, P2, SECOND, T, USDC } from '../testing/cast.ts'
import { plainLife, type Seen, type TouchedBy } from '../testing/plainVisits.ts'
import { randomLife } from '../testing/randomLife.ts'
import { SETUP } from '../testing/randomMarket.ts'
import { TICK_FAMILIES } from '../testing/tickFamilies.ts'
import { type Scenario, scenario } from '../testing/scenario.ts'
import { count, type Ms, ms, tick } from '../units.ts'
import type { Block, PoolEvent } from './block.ts'
import { passed, visitAt, visited } from './visit.ts'

const blocksOf = (inputs: readonly Input[]): Block[] =>
  inputs.flatMap(input => (input.kind === 'block' ? [input.block] : []))

/** The states a block's events lead a pool through; its ticks are changed on the way. */
function statesOf(pool: Pool, terms: PoolTerms, from: Pool['state']['amm'], events: readonly PoolEvent[]) {
  const adapter = adapterOf(terms.family)
  const seen: Seen[] = []
  let [amm, prior] = [from, from]
  for (const { event } of events) {
    if (event.kind === 'CREATED') continue
    const applied = adapter.apply(terms, amm, prior, event)
    prior = amm
    amm = applied.state
    seen.push(seenAs(pool, terms, amm))
  }
  return { seen, amm }
}

function seenAs(pool: Pool, terms: PoolTerms, amm: Pool['state']['amm']): Seen {
  const adapter = adapterOf(terms.family)
  if (!adapter.isLive(terms, amm)) return { depthY: 0n, ratio: null }
  const price = adapter.marginal(amm)
  const ratio = pool.x === 0 ? price : { num: price.den, den: price.num }
  const depth = adapter.depth(terms, amm, pool.x, DEPTH_BOUNDARY)
  if ('reason' in depth) return { depthY: null, ratio }
  const down = (depth.down * ratio.num) / ratio.den
  return { depthY: depth.up < down ? depth.up : down, ratio }
}

/** A pool's whole life as the definition has it, from the events of the chain alone. */
function plainly(pool: Pool, blocks: readonly Block[]) {
  const born = blocks.findIndex(({ events }) =>
    events.some(({ pool: address, event }) => address === pool.address && event.kind === 'CREATED'),
  )
  const startMs = (blocks[born] as Block).timeMs
  const adapter = adapterOf(pool.terms.family)
  const newborn = adapter.born(pool.terms)
  const terms: PoolTerms = adapter.terms(newborn, null)
  let amm: Pool['state']['amm'] = adapter.empty(newborn)
  const touches: TouchedBy[] = []
  for (const { timeMs, events } of blocks.slice(born)) {
    const own = events.filter(({ pool: address }) => address === pool.address)
    if (own.length === 0) continue
    const { seen, amm: after } = statesOf(pool, terms, amm, own)
    touches.push({ timeMs, states: seen })
    amm = after
  }
  return plainLife(
    startMs,
    depthAverage.start(0n, startMs),
    { depthY: 0n, ratio: null },
    touches,
    SETUP.blockTimeMs,
  )
}

afterEach(() => {
  memory.isOn = true
})

describe('law', () => {
  it('R-visit-1, R-visit-3, R-visit-4: the fold, through reorganisations and within moments, books what the definition books', () => {
    const booked = { depths: 0, ratios: 0, moments: 0 }
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), seed => {
        const { life, survivors } = randomLife(seed, {
          families: TICK_FAMILIES,
          rounds: 60,
          maxDepth: 5,
          reorgChance: 0.15,
          burstChance: seed % 3 === 0 ? 0 : 0.6,
        })
        const blocks = blocksOf(survivors)
        memory.isOn = seed % 4 !== 0
        const state = createState(SETUP)
        // Without a token to price a step costs a tenth.
        for (const input of life) if (input.kind !== 'enrol') step(state, input)
        for (const pool of state.pools.values()) {
          const { average, history, visit } = pool.state
          const plain = plainly(pool, blocks)
          expect(average).toEqual(plain.average)
          const changes = changesOf(history)
          const recent = plain.changes.slice(plain.changes.length - changes.length)
          expect(changes.map(({ fromMs }) => fromMs)).toEqual(recent.map(({ fromMs }) => fromMs))
          for (const [at, { ratio }] of changes.entries())
            expect(fraction.compareExactly(ratio, (recent[at] as (typeof recent)[number]).ratio)).toBe(0)
          if (visit === null) continue
          booked.moments++
          if (visit.leastY !== visit.average?.l) booked.depths++
          if (visit.nearest !== visit.held) booked.ratios++
        }
      }),
      { numRuns: cases(10) },
    )
    expect(Math.min(booked.depths, booked.ratios), JSON.stringify(booked)).toBeGreaterThan(0)
  })
})

type Vector = {
  readonly block_time: number
  readonly start: number
  readonly depth: string
  readonly ratio: readonly string[] | null
  readonly blocks: readonly {
    readonly t: number
    readonly states: readonly (readonly [string | null, readonly string[] | null])[]
    readonly at: number
    readonly average: string
    readonly median: string | null
  }[]
}

const ratioOf = (text: readonly string[] | null) =>
  text && { num: BigInt(text[0] as string), den: BigInt(text[1] as string) }

describe('against the Python oracle', () => {
  it.each([true, false])(
    'R-visit-1, R-visit-3, R-visit-4: averages and medians over whole lives; memory %s',
    isOn => {
      memory.isOn = isOn
      for (const { block_time, start, depth, ratio, blocks } of json as unknown as Vector[]) {
        const first = ratioOf(ratio)
        let pool: Parameters<typeof visitAt>[0] = {
          average: depthAverage.start(BigInt(depth), ms(start)),
          changed: { number: count(1), hash: '0x', timeMs: ms(start) },
          depthY: BigInt(depth),
          history: first === null ? EMPTY : append(EMPTY, ms(start), first),
          visit: null,
        }
        for (const { t, states, at, average, median } of blocks) {
          const seen = states.map(([y, r]) => ({ depthY: y === null ? null : BigInt(y), ratio: ratioOf(r) }))
          const last = seen.pop() as Seen
          let visit = visitAt(pool, ms(t), ms(block_time))
          for (const each of seen) visit = visited(visit, each.depthY, each.ratio)
          const past = passed(visit, pool.history, last.depthY, last.ratio, depthAverage.start)
          pool = { ...pool, ...past, depthY: last.depthY, changed: { ...pool.changed, timeMs: ms(t) } }
          expect(String(depthAverage.value(pool.average as depthAverage.DepthAverage, ms(at)))).toBe(average)
          const found = reference(pool.history, ms(at))
          if (median === null) expect('median' in found).toBe(false)
          else {
            const expected = ratioOf(median.split('/')) as fraction.Fraction
            expect('median' in found && fraction.compareExactly(found.median, expected)).toBe(0)
          }
        }
      }
    },
  )
})

const OLD = [1_000_000n * E18, 1_000_000n * E6] as const
const WINDOW_BLOCKS = 26

/** A pool of T and USDC at 1 whose five minutes and half an hour are behind it; blocks come every 12 s. */
function settled(x: bigint = OLD[0], y: bigint = OLD[1], pools = [P1]): Scenario {
  const s = scenario()
  s.decimals(T, 18)
  pools.forEach((pool, at) => s.v2(pool, [T, x], [USDC, y], { deployment: `d${at}`, lastTradeMs: s.nowMs }))
  s.quiet(6 * MINUTE, 12 * SECOND)
  return s
}

const medianOf = (s: Scenario, pool = P1): bigint => {
  const { median } = s.edge(pool).components.temporal
  return median === null ? 0n : (median.num * 1000n * E18) / (median.den * E6)
}

describe('depth', () => {
  it('R-visit-3: liquidity minted last and burned first in every block earns nothing (T4)', () => {
    const real = [6_000n * E18, 6_000n * E6] as const
    const s = settled(...real, [P1, P2])
    s.enrol(T)
    for (let n = 0; n < 60; n++) {
      for (const pool of [P1, P2]) {
        s.reserves(pool, ...real)
        s.reserves(pool, 2_000n * real[0], 2_000n * real[1])
      }
      s.mine()
      for (const pool of [P1, P2]) {
        expect(s.pool(pool).state.depthY).toBe(byHand.v2DepthY(2_000n * real[0], 2_000n * real[1]))
        // What was minted before the next block burns it is not there for anyone.
        if (n > 0) expect(s.edge(pool).capacity).toBeLessThanOrEqual(byHand.v2DepthY(...real))
      }
      expect(s.score(T)).toBeLessThanOrEqual(2)
    }
  })

  it('R-visit-3: liquidity present in every second block counts as steady and low (T5)', () => {
    const real = [6_000n * E18, 6_000n * E6] as const
    const s = settled(...real)
    s.enrol(T)
    const [depth, score] = [s.edge(P1).capacity, s.score(T)]
    for (let n = 0; n < 60; n++) {
      const factor = n % 2 === 0 ? 2_000n : 1n
      s.reserves(P1, factor * real[0], factor * real[1])
      s.mine()
      expect([s.edge(P1).capacity, s.score(T)]).toEqual([depth, score])
    }
  })

  it('R-visit-2: a block time before the moment is booked, and earlier times have the depth held then', () => {
    const s = settled()
    const { average } = s.pool(P1).state
    const drained = byHand.v2DepthY(OLD[0] / 4n, OLD[1] / 4n)
    s.quiet(5 * MINUTE)
    s.reserves(P1, OLD[0] / 4n, OLD[1] / 4n)
    s.reserves(P1, ...OLD)
    s.mine()
    const full = average as depthAverage.DepthAverage
    const dip = depthAverage.change(full, drained, ms(s.nowMs - 12 * SECOND))
    expect(s.pool(P1).state.average).toEqual(depthAverage.change(dip, full.l, s.nowMs))
  })

  it('R-visit-2: a chain with block times in milliseconds books whole seconds', () => {
    const s = scenario({ blockMs: 250 })
    s.v2(P1, [T, OLD[0]], [USDC, OLD[1]])
    s.quiet(MINUTE, SECOND)
    s.reserves(P1, OLD[0] / 4n, OLD[1] / 4n)
    s.mine({ afterMs: 7 * SECOND })
    expect(s.pool(P1).state.visit).toMatchObject({ sinceMs: s.nowMs - SECOND, timeMs: s.nowMs })
  })

  it('R-visit-3: a pool that was not live in between had no depth', () => {
    const s = settled()
    s.reserves(P1, 0n, 0n)
    s.reserves(P1, ...OLD)
    s.mine()
    expect(s.pool(P1).state.visit?.leastY).toBe(0n)
    expect(s.edge(P1).averageY).toBeLessThan(s.pool(P1).state.depthY as bigint)
  })

  it('R-visit-3, R-verify-7: an unknown depth counts as none in the booked span, and holds nothing after it', () => {
    const s = scenario({ stables: [DAI] })
    s.decimals(T, 18)
    const known = { lowest: tick(0), highest: tick(2_040) }
    s.v3(P1, T, DAI, { tick: 1_000, positions: [[-60_000, 60_000, 10n ** 24n]], known })
    const { average } = s.pool(P1).state
    s.quiet(MINUTE, 12 * SECOND)
    s.sell(P1, 10n ** 23n)
    s.mine()
    const { state } = s.pool(P1)
    expect(state).toMatchObject({ depth: null, depthY: null, incomplete: true })
    const before = average as depthAverage.DepthAverage
    const booked = depthAverage.change(before, 0n, ms(s.nowMs - 12 * SECOND))
    expect(state.average).toEqual(depthAverage.change(booked, before.l, s.nowMs))
    // Read again in the next block, it was unknown until then.
    s.mine()
    s.load(P1)
    expect(s.pool(P1).state.visit).toMatchObject({ timeMs: s.nowMs, leastY: 0n })
    expect(s.pool(P1).state.average?.l).toBe(s.pool(P1).state.depthY)
  })
})

describe('price', () => {
  const parked = [OLD[0], (OLD[1] * 18n) / 10n] as const

  it('R-visit-4: a price parked at the ends of blocks, with the old one inside them, does not move the median (T6)', () => {
    const s = settled()
    s.enrol(T)
    for (let n = 0; n < 60; n++) {
      s.reserves(P1, ...OLD)
      s.reserves(P1, ...parked)
      s.mine()
      expect(s.pool(P1).state.marginal).toEqual({ num: parked[1], den: parked[0] })
      expect(medianOf(s)).toBe(1_000n)
      expect(s.score(T)).toBeLessThanOrEqual(3)
    }
  })

  it('R-visit-4: a price that holds throughout is the median after half of the window', () => {
    const s = settled()
    const medians: bigint[] = []
    for (let n = 0; n < WINDOW_BLOCKS; n++) {
      s.reserves(P1, parked[0] + BigInt(n), parked[1])
      s.mine()
      medians.push(medianOf(s))
    }
    expect(medians.indexOf(1_799n) - medians.lastIndexOf(1_000n)).toBe(1)
    expect(medians.lastIndexOf(1_000n)).toBe(12)
  })

  it('R-visit-4: a visit to the old price delays the median, and does not bring it back once it has moved', () => {
    const s = settled()
    const visit = () => {
      s.reserves(P1, ...OLD)
      s.reserves(P1, ...parked)
      s.mine()
    }
    for (let n = 0; n < WINDOW_BLOCKS; n++) visit()
    expect(medianOf(s)).toBe(1_000n)
    // Nobody visits it for half of the window. The next visit still meets the median of the last one; none after that.
    s.quiet(3 * MINUTE, 12 * SECOND)
    expect(medianOf(s)).toBe(1_800n)
    visit()
    const last = changesOf(s.pool(P1).state.history).at(-1)
    for (let n = 0; n < 2 * WINDOW_BLOCKS; n++) {
      visit()
      expect(medianOf(s)).toBe(1_800n)
    }
    expect(changesOf(s.pool(P1).state.history).at(-1)).toEqual(last)
  })

  it('R-visit-5: nothing booked earlier changes, whatever a later moment visits', () => {
    const s = settled()
    s.reserves(P1, ...OLD)
    s.reserves(P1, ...parked)
    s.mine()
    s.quiet(MINUTE, 12 * SECOND)
    const before = changesOf(s.pool(P1).state.history)
    s.reserves(P1, ...OLD)
    s.reserves(P1, OLD[0], 3n * OLD[1])
    s.mine()
    const after = changesOf(s.pool(P1).state.history)
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.slice(before.length).map(({ fromMs }) => fromMs)).toEqual([s.nowMs - 12 * SECOND, s.nowMs])
  })

  it('R-visit-4: over 300 s after the last moment, and before there is a median, the entering ratio is booked', () => {
    const young = scenario()
    young.v2(P1, [T, OLD[0]], [USDC, OLD[1]])
    for (const [waitMs, isBooked] of [
      [2 * MINUTE, false],
      [WINDOW_MS, true],
      [WINDOW_MS + 1, false],
    ] as const) {
      const s = isBooked || waitMs > WINDOW_MS ? settled() : young
      // The price in force leaves the median behind it, then nothing happens for a while.
      s.reserves(P1, ...parked)
      s.mine()
      s.mine({ afterMs: waitMs })
      s.reserves(P1, ...OLD)
      s.mine({ afterMs: 0 })
      const { visit } = s.pool(P1).state
      expect(visit?.median === null, `${waitMs}`).toBe(!isBooked)
      expect(visit?.nearest === visit?.held).toBe(!isBooked)
    }
  })

  it('R-visit-4: while a pool is not live its last ratio holds, and no visits count', () => {
    const s = settled()
    s.reserves(P1, ...parked)
    s.mine()
    s.reserves(P1, ...OLD)
    s.reserves(P1, 0n, 0n)
    s.mine()
    const ratios = changesOf(s.pool(P1).state.history).map(
      ({ ratio: { num, den } }) => (10n * num * E18) / (den * E6),
    )
    // At the old price before it left, and after it at what the last block had ended with.
    expect(ratios).toEqual([10n, 18n])
    expect(changesOf(s.pool(P1).state.history).at(-1)?.fromMs).toBe(s.nowMs)
    s.reserves(P1, ...OLD)
    s.mine()
    expect(changesOf(s.pool(P1).state.history).at(-1)?.ratio).toEqual({ num: OLD[1], den: OLD[0] })
  })
})

describe('a moment', () => {
  /** What a read may still see. Of what ended before the window a moment in several blocks may have forgotten more. */
  const inWindow = ({ history }: Pool['state'], atMs: Ms) =>
    changesOf(history).filter((_, at, all) => (all[at + 1]?.fromMs ?? atMs) > atMs - WINDOW_MS)

  /** Reserves in multiples of the old ones; a block ends where the third is set. */
  const steps = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 4 }), fc.boolean()),
    {
      minLength: 2,
      maxLength: 7,
    },
  )

  it('R-visit-1: is the same however it is split into blocks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(steps, fc.constantFrom(1, 5, 12, 30, 299)), { minLength: 1, maxLength: 6 }),
        moments => {
          const [cut, whole] = [settled(), settled()]
          for (const [visits, gap] of moments) {
            let isFirst = true
            for (const [x, y, isCut] of visits) {
              for (const s of [cut, whole])
                s.reserves(P1, OLD[0] * BigInt(x), OLD[1] * BigInt(x === 0 ? 0 : y))
              if (!isCut) continue
              cut.mine({ afterMs: isFirst ? gap * SECOND : 0 })
              isFirst = false
            }
            cut.mine({ afterMs: isFirst ? gap * SECOND : 0 })
            whole.mine({ afterMs: gap * SECOND })
            const [a, b] = [cut.pool(P1).state, whole.pool(P1).state]
            expect(a.average).toEqual(b.average)
            expect(inWindow(a, cut.nowMs)).toEqual(inWindow(b, whole.nowMs))
          }
        },
      ),
      { numRuns: cases(25) },
    )
  })

  it('R-visit-6: a read inside an open moment sees the part that has happened', () => {
    const s = settled()
    const { average } = s.pool(P1).state
    s.reserves(P1, 2n * OLD[0], 2n * OLD[1])
    s.mine()
    expect(s.edge(P1).averageY).toBe(average?.l)
    s.reserves(P1, OLD[0] / 2n, OLD[1] / 2n)
    s.reserves(P1, 2n * OLD[0], 2n * OLD[1])
    s.mine({ afterMs: 0 })
    const dip = depthAverage.change(
      average as depthAverage.DepthAverage,
      byHand.v2DepthY(OLD[0] / 2n, OLD[1] / 2n),
      ms(s.nowMs - 12 * SECOND),
    )
    expect(s.edge(P1).averageY).toBe(depthAverage.value(dip, s.nowMs))
  })

  it('R-visit-1: a block with an earlier time belongs to the moment before it', () => {
    const s = settled()
    s.reserves(P1, 2n * OLD[0], 2n * OLD[1])
    s.mine()
    const { timeMs } = s.tip
    s.reserves(P1, OLD[0] / 2n, OLD[1] / 2n)
    s.mine({ afterMs: -5 * SECOND })
    expect(s.tip.timeMs).toBe(timeMs - 5 * SECOND)
    expect(s.pool(P1).state.visit).toMatchObject({ timeMs, sinceMs: timeMs - 12 * SECOND })
    expect(s.pool(P1).state.average?.t0).toBe(timeMs)
  })

  it('R-visit-6: undoing a block restores the moment that the blocks before it made', () => {
    const s = settled()
    s.reserves(P1, 2n * OLD[0], 2n * OLD[1])
    s.mine()
    const { state } = s.pool(P1)
    const branch = s.branch()
    s.reserves(P1, OLD[0] / 2n, OLD[1] / 2n)
    s.mine({ afterMs: 0 })
    expect(s.pool(P1).state.visit?.leastY).toBeLessThan(state.visit?.leastY as bigint)
    s.reorg(branch, [branch.mine({ afterMs: 0 })])
    expect(s.pool(P1).state).toEqual(state)
  })

  it('R-visit-2: a pool books nothing before it was created, and nothing before it was first read', () => {
    const s = scenario()
    s.bornV2(P1, [T, OLD[0]], [USDC, OLD[1]])
    s.mine()
    expect(s.pool(P1).state).toMatchObject({ average: { e: 0n, t0: s.nowMs } })
    s.v2(P2, [T, OLD[0]], [USDC, OLD[1]])
    for (const pool of [P1, P2]) s.reserves(pool, OLD[0] / 2n, OLD[1] / 2n)
    s.mine({ afterMs: 3 * SECOND })
    for (const pool of [P1, P2])
      expect(s.pool(pool).state.visit).toMatchObject({ sinceMs: s.nowMs - 3 * SECOND, timeMs: s.nowMs })
  })

  it('R-visit-6: another block of the time at which a pool was first read starts from what was read', () => {
    const s = scenario()
    s.v2(P1, [T, OLD[0]], [USDC, OLD[1]])
    const { average } = s.pool(P1).state
    s.reserves(P1, 3n * OLD[0], 3n * OLD[1])
    s.mine({ afterMs: 0 })
    expect(s.pool(P1).state.average).toEqual({ ...average, l: s.pool(P1).state.depthY })
  })
})
