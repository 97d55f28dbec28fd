/**
 * The pricing rules against vectors computed independently with Python's integers and fractions:
 * `python3 packages/engine/oracle/price.py > packages/engine/oracle/price.json`.
 */
import { describe, expect, it } from 'vitest'
import json from '../oracle/price.json' with { type: 'json' }
import { type Fraction, approx } from '../exact/fraction.ts'
import { type Count, count, type Ms, ms, type Score, score } from '../units.ts'
import { anchorDispute } from './anchorDispute.ts'
import { edgeAgreement, formerPathAgreement } from './agreement.ts'
import { weigh } from './capacity.ts'
import { consensus, tau } from './consensus.ts'
import { coverage } from './coverage.ts'
import { depthScore } from './depthScore.ts'
import { freshness } from './freshness.ts'
import { label } from './label.ts'
import { nextFlip, reference } from '../memory/tapeMedian.ts'
import { append, EMPTY } from '../memory/temporalTape.ts'
import * as depthAverage from './depthAverage.ts'
import { FORMER_POLICY } from '../policy/former.ts'
import { DEFAULT_POLICY, type Policy } from '../policy/policy.ts'
import { type Kept, note, type TokenPast, readAt } from './ownPast.ts'
import { policyVersion } from '../policy/policyVersion.ts'
import { materialHops } from './materialRoutes.ts'
import { floorOf, immaterialAmong } from './observationFloor.ts'
import { sourceScore } from './sources.ts'
import { stableDispute } from './stableDispute.ts'
import { priceJump } from './priceJump.ts'
import { guardStable } from './stableGuard.ts'
import { temporalScore } from './temporalMedian.ts'
import { WINDOW_MS } from './temporalWindow.ts'
import { FOREVER } from './timed.ts'

type RawAnswer = readonly [string, Count, Ms, boolean]
type Vectors = {
  consensus: {
    observations: [string, string, string, string, string, string, string][]
    expected: {
      m0: string
      mad: string
      tau: string
      rejected: string[]
      unresolved: boolean
      selected: string
      kept: string
      total: string
      spread: string
      low: string
      high: string
    } | null
  }[]
  tau: [string, string, string][]
  capacity: { depths: string[]; routes: Count[][]; b: string[]; load: string[]; w: string[] }[]
  bands: {
    depth: [string, Score][]
    coverage: [string, string, Score][]
    freshness: [Ms, Ms, Score, Ms | null][]
    temporal: [string, string, string, string, Score][]
    labels: string[]
  }
  agreement: {
    sources: Count
    deployments: Count
    spread: [string, string]
    kept: string
    total: string
    unresolved: boolean
    edge: Score
    edge_caps: string[]
    path: Score
    path_caps: string[]
  }[]
  floors: { pools: [boolean, string[]][]; floor: number; heard: boolean[][] }[]
  sources: [[Score, string][], Score][]
  material: [Record<string, string>, string[]][]
  k: string[]
  decay: [Ms, string][]
  average: {
    at: Ms
    created: Ms | null
    depth: string
    steps: [Ms, string, string, string | null][]
  }[]
  temporal: { changes: [Ms, string, string][]; reads: [Ms, string | null, Ms, Ms | null][] }[]
  stable: {
    at: Ms
    answer: RawAnswer | null
    last: RawAnswer | null
    feed: [Ms, Ms] | null
    sequencer: [boolean, Ms] | null
    expected: [string, Score, string, string, string[], Ms | null, string]
  }[]
  past: {
    notes: [Ms, string, string, string, string, string][]
    worths: Record<string, [string, string]>
    reads: [Ms, string, string, string | null, Ms, Score | null][]
  }[]
  version: [unknown, string][]
  dispute: {
    x: [string, string, boolean]
    y: [string, string, boolean]
    pools: [string, string, string, string, string][]
    expected: ['X' | 'Y', Score, string, string] | null
  }[]
  anchor: {
    at: Ms
    answer: RawAnswer
    terms: [Ms, Ms]
    price: [string, string]
    expected: [string, Score | null, boolean, Ms] | null
  }[]
}

const vectors = json as unknown as Vectors

const fraction = (num: string, den: string): Fraction => ({ num: BigInt(num), den: BigInt(den) })

const parse = (raw: RawAnswer | null) =>
  raw && { value: BigInt(raw[0]), decimals: raw[1], updatedAtMs: raw[2], complete: raw[3] }

/** Reduced text, as Python writes a Fraction; the engine's own are unreduced, and a deviation may be 0. */
function text({ num, den }: Fraction): string {
  let [a, b] = [num, den]
  while (b !== 0n) [a, b] = [b, a % b]
  return `${num / a}/${den / a}`
}

describe('against the Python oracle', () => {
  it('consensus: m0, MADw, tau, rejection, kept weight, published median, spread and envelope', () => {
    for (const { observations, expected } of vectors.consensus) {
      const given = observations.map(([id, num, den, weight, capacity, pool, deployment]) => ({
        id,
        price: fraction(num, den),
        weight: BigInt(weight),
        capacity: BigInt(capacity),
        source: { id: pool, deploymentId: deployment },
      }))
      const found = consensus(given)
      const idOf = (index: Count) => given[index]?.id
      expect(
        found && {
          m0: idOf(found.m0),
          mad: text(found.madBps),
          tau: String(found.tauBps),
          rejected: given
            .filter((_, at) => found.rejected[at])
            .map(({ id }) => id)
            .sort(),
          unresolved: found.unresolved,
          selected: idOf(found.selected),
          kept: String(found.keptWeight),
          total: String(found.totalWeight),
          spread: text(found.spreadBps),
          low: idOf(found.low),
          high: idOf(found.high),
        },
      ).toEqual(expected)
    }
  })

  it('tau for exact MADw on and around its clamps', () => {
    for (const [num, den, expected] of vectors.tau)
      expect(String(tau(fraction(num, den))), `${num}/${den}`).toBe(expected)
  })

  it('capacity: b_r, B_e and w_r over shared edges', () => {
    for (const { depths, routes, b, load, w } of vectors.capacity) {
      const found = weigh(routes, edge => BigInt(depths[edge] as string))
      const loads = depths.map((_, edge) => String(found.load.get(count(edge)) ?? 0n))
      expect([found.capacity.map(String), loads, found.weight.map(String)]).toEqual([b, load, w])
    }
  })

  it('bands of depth, coverage, freshness and temporal, one step either side of each boundary', () => {
    for (const [micro, expected] of vectors.bands.depth)
      expect(depthScore(BigInt(micro)), micro).toBe(expected)
    for (const [anchors, external, expected] of vectors.bands.coverage)
      expect(
        coverage(BigInt(anchors), { depthMicrousd: BigInt(external), asOfMs: ms(0) }, DEFAULT_POLICY, ms(0))
          .value.score,
        `${anchors} of ${external}`,
      ).toBe(expected)
    for (const [age, ttl, expected, later] of vectors.bands.freshness) {
      const { value, untilMs } = freshness(ms(0), ttl, age)
      expect(value.score, `${age} of ${ttl}`).toBe(expected)
      expect(untilMs, `after ${age} of ${ttl}`).toBe(later ?? FOREVER)
    }
    for (const [num, den, medianNum, medianDen, expected] of vectors.bands.temporal) {
      const median = fraction(medianNum, medianDen)
      const past = { median, approx: approx(median), coveredMs: WINDOW_MS }
      expect(temporalScore(fraction(num, den), past)).toBe(expected)
    }
    vectors.bands.labels.forEach((expected, at) => expect(label(score(at))).toBe(expected))
  })

  it('edge and path agreement with their caps', () => {
    for (const vector of vectors.agreement) {
      const support = {
        sources: count(vector.sources),
        deployments: vector.deployments,
        spreadBps: fraction(...vector.spread),
        keptWeight: BigInt(vector.kept),
        totalWeight: BigInt(vector.total),
        unresolved: vector.unresolved,
      }
      const edge = edgeAgreement(support, DEFAULT_POLICY)
      const path = formerPathAgreement(support, FORMER_POLICY)
      expect([edge.score, edge.caps.map(({ code }) => code)]).toEqual([vector.edge, vector.edge_caps])
      expect([path.score, path.caps.map(({ code }) => code)]).toEqual([vector.path, vector.path_caps])
    }
  })

  it('R-dust-1: the floor of the vote, and which routes vote above it', () => {
    for (const { pools, floor, heard } of vectors.floors) {
      const routes = pools.flatMap(([isOnward, weights], first) =>
        weights.map(weight => ({ first, weight: BigInt(weight), isOnward })),
      )
      const byFirst = new Map(
        pools.map(([, weights], first) => [first, weights.reduce((sum, each) => sum + BigInt(each), 0n)]),
      )
      const total = [...byFirst.values()].reduce((sum, each) => sum + each, 0n)
      expect(Number(floorOf(DEFAULT_POLICY, [...byFirst.values()], total))).toBe(floor)
      const left = immaterialAmong(DEFAULT_POLICY, routes, byFirst, total, ({ isOnward }) => isOnward)
      expect(routes.map(route => !left.has(route))).toEqual(heard.flat())
    }
  })

  it('R-path-2: what sources are worth together', () => {
    for (const [sources, expected] of vectors.sources) {
      const given = sources.map(([points, deployment]) => ({ first: deployment, score: points }))
      expect(sourceScore(DEFAULT_POLICY, given, deployment => deployment)).toBe(expected)
    }
  })

  it('R-material-1: which first hops are material', () => {
    for (const [weights, expected] of vectors.material) {
      const given = new Map(Object.entries(weights).map(([pool, weight]) => [pool, BigInt(weight)]))
      const total = [...given.values()].reduce((sum, each) => sum + each, 0n)
      expect([...materialHops(DEFAULT_POLICY, given, total, pool => pool)].sort()).toEqual(expected)
    }
  })

  it('depth average: the decay of each single bit is its table constant', () => {
    vectors.k.forEach((expected, bit) => expect(String(depthAverage.decay((2 ** bit) as Ms))).toBe(expected))
  })

  it('depth average: decay over any time', () => {
    for (const [dt, expected] of vectors.decay) expect(String(depthAverage.decay(dt)), `${dt}`).toBe(expected)
  })

  it('depth average: values and effective depth over runs of changes', () => {
    for (const { at, created, depth, steps } of vectors.average) {
      let state =
        created === null
          ? depthAverage.start(BigInt(depth), at)
          : depthAverage.startAt(BigInt(depth), created, at)
      for (const [t, average, effective, change] of steps) {
        expect(String(depthAverage.value(state, t))).toBe(average)
        expect(String(depthAverage.effective(state, t))).toBe(effective)
        if (change !== null) state = depthAverage.change(state, BigInt(change), t)
      }
    }
  })

  it('temporal median, coverage and the next time it changes', () => {
    for (const { changes, reads } of vectors.temporal) {
      const history = changes.reduce((built, [t, num, den]) => append(built, t, fraction(num, den)), EMPTY)
      for (const [t, median, covered, flip] of reads) {
        const found = reference(history, t)
        expect('median' in found ? text(found.median) : null).toBe(median)
        expect(found.coveredMs).toBe(covered)
        expect(nextFlip(history, t)).toBe(flip ?? FOREVER)
      }
    }
  })

  it('R-stable-7: stable guard: value, score, status, source, caps, next boundary and deviation', () => {
    for (const { at, answer, last, feed, sequencer, expected } of vectors.stable) {
      const { value: found, untilMs } = guardStable(
        {
          answer: parse(answer),
          last: parse(last),
          feed: feed && { heartbeatMs: feed[0], graceMs: feed[1] },
          sequencer: sequencer && { up: sequencer[0], sinceMs: sequencer[1] },
        },
        DEFAULT_POLICY,
        at,
      )
      const caps = found.caps.map(({ code }) => code)
      const deviation = text(found.deviationBps)
      expect([
        text(found.usd),
        found.score,
        found.status,
        found.source,
        caps,
        untilMs === FOREVER ? null : untilMs,
        deviation,
      ]).toEqual(expected)
    }
  })

  it('R-past-2, R-past-5: the past of a token, its reference, what it covers, and the cap', () => {
    for (const { notes, worths, reads } of vectors.past) {
      let past: TokenPast | null = null
      for (const [t, num, den, y, worthNum, worthDen] of notes) {
        const ratio = fraction(num, den)
        const worth = fraction(worthNum, worthDen)
        past = note(past, t, { ratio, approx: approx(ratio), y: y as Kept['y'], worth })
      }
      const worthOf = (y: string) => {
        const worth = fraction(...(worths[y] as [string, string]))
        return { ...worth, approx: approx(worth) }
      }
      for (const [t, num, den, median, covered, cap] of reads) {
        const { value: found } = priceJump(
          readAt(past as unknown as TokenPast, t),
          worthOf,
          fraction(num, den),
        )
        const { value, coveredMs } = found.reference
        expect([value && text(value), coveredMs, found.cap?.cap ?? null]).toEqual([median, covered, cap])
      }
    }
  })

  it('policy version: FNV-1a of canonical JSON', () => {
    for (const [sample, expected] of vectors.version) expect(policyVersion(sample as Policy)).toBe(expected)
  })

  it('R-dispute-3, R-dispute-4, R-dispute-5: which side is disputed, by which cap, at which market', () => {
    const side = ([num, den, isFresh]: [string, string, boolean]) => ({ usd: fraction(num, den), isFresh })
    for (const { x, y, pools, expected } of vectors.dispute) {
      const given = pools.map(([id, num, den, weight, average]) => ({
        id,
        median: fraction(num, den),
        weight: BigInt(weight),
        averageMicrousd: BigInt(average),
      }))
      const found = stableDispute(side(x), side(y), given, DEFAULT_POLICY)
      expect(found && [found.disputed, found.cap, text(found.market), text(found.deviationBps)]).toEqual(
        expected,
      )
    }
  })

  it('R-dispute-1, R-dispute-2: deviation, cap and confirmation of a feed, and when it turns stale', () => {
    for (const { at, answer, terms, price, expected } of vectors.anchor) {
      const feed = { answer: parse(answer), terms: { heartbeatMs: terms[0], graceMs: terms[1] } }
      const { value, untilMs } = anchorDispute(fraction(...price), feed, DEFAULT_POLICY, at)
      expect(value && [text(value.deviationBps), value.cap?.cap ?? null, value.isNear, untilMs]).toEqual(
        expected,
      )
    }
  })
})
