import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeEntity, entityKeys } from '../stored/codec.ts'
import { cases } from '../testing/cases.ts'
import { E18, E6, MINUTE, P1, P2, P3, P4, T, USDC, WETH } from '../testing/cast.ts'
import { foundIn, hold, pushAll, swapExactly } from '../testing/costMoves.ts'
import { type Scenario, scenario } from '../testing/scenario.ts'
import { smallMarket } from '../testing/smallMarket.ts'
import { ms } from '../units.ts'
import { computeCost, costToMove, dollarsText } from './computeCost.ts'
import { type Found, isBelievable, type Move, MOVES } from './cost.ts'
import { SETTLED_MS } from './belief.ts'
import { pushTo } from './push.ts'
import { Rehearsal } from './rehearsal.ts'
import { MAX_TRIALS } from './search.ts'

const [UP1, DOWN1, , , UP10] = MOVES as readonly [Move, Move, Move, Move, Move]

/** Two pools of two factories, the deeper one with so many dollars a side. */
function twoPools(thousands: bigint, others: bigint): Scenario {
  const s = scenario()
  s.v2(P1, [T, thousands * 1_000n * E18], [USDC, thousands * 1_000n * E6])
  s.v2(P2, [T, others * 1_000n * E18], [USDC, others * 1_000n * E6], { deployment: 'b' })
  s.enrol(T)
  s.quiet(40 * MINUTE)
  return s
}

function costOf(s: Scenario, move: Move): Found {
  const cost = costToMove(s.state, T, s.nowMs)
  const { evaluation } = cost.present
  if (!isBelievable(evaluation)) throw new Error('the price is not believed')
  const found = cost.of(move, evaluation)
  if (found === null) throw new Error('no plan was found')
  return found
}

/** Whether what is published is at least that far from what was. */
function isMoved(s: Scenario, before: { num: bigint; den: bigint }, { isUp, bps }: Move): boolean {
  const now = s.price(T)
  const wanted = before.num * now.den * (isUp ? 10_000n + BigInt(bps) : 10_000n - BigInt(bps))
  const there = now.num * before.den * 10_000n
  return isUp ? there >= wanted : there <= wanted
}

describe('cost to move', () => {
  test('R-cost-1: executed on a random market, the plan moves the published price after the stated time, and not before', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), seed => {
        const given = foundIn(seed)
        if (given === null) return
        const { market, cost, move, found } = given
        const { s } = market
        const before = s.pricedNow(T).price
        pushAll(s, found.pushes)
        s.mine({ afterMs: cost.rehearsal.startMs - s.tip.timeMs })
        if (found.holdMs > 0) {
          const isAtOnce = isMoved(s, before, move) && s.score(T) >= 4
          const isOwn = found.pushes.some(({ pool }) => pool.from === T)
          expect(isAtOnce && isOwn).toBe(false)
          hold(s, cost.rehearsal.blockMs, found.holdMs)
        }
        expect(isMoved(s, before, move)).toBe(true)
        expect(s.score(T)).toBeGreaterThanOrEqual(4)
        expect([s.price(T), s.score(T)]).toEqual([
          { num: found.price.num, den: found.price.den },
          found.score,
        ])
      }),
      { numRuns: cases(25) },
    )
  })

  test('R-cost-4: with nobody trading back, the loss is what went in minus what comes back', () => {
    const s = twoPools(1_000n, 100n)
    const { pushes, loss, capital } = costOf(s, UP1)
    pushAll(s, pushes)
    let [put, back] = [0n, 0n]
    for (const { pool, side, amountIn, amountOut, amountBack } of pushes) {
      put += amountIn
      back += amountBack
      swapExactly(s, pool.address, side === 0 ? 1 : 0, amountOut, amountBack)
    }
    // In dollars at a feed of 1.00.
    expect([capital, loss]).toEqual([put, put - back])
    // Two fees of 0.3% of what moves a million dollars a side by 1%, which is about half a percent of it.
    expect(Number(loss)).toBeGreaterThan(29e6)
    expect(Number(loss)).toBeLessThan(31e6)
  })

  test('R-cost-5: a price that is believed at once is lost once to traders who reverse it', () => {
    const s = twoPools(1_000n, 100n)
    const { pushes, lossRestored, holdMs } = costOf(s, UP1)
    const { num, den } = s.pricedNow(T).marginalUsd
    const given = pushes.reduce(
      (sum, push) => sum + push.amountIn - (push.amountOut * num * E6) / (den * E18),
      0n,
    )
    expect([holdMs, lossRestored]).toEqual([0, given])
  })

  test('R-cost-5: a price that must be held is never believed while the pools are restored in every block', () => {
    const s = twoPools(1_000n, 100n)
    const { pushes, lossRestored, holdMs } = costOf(s, UP10)
    expect([lossRestored, holdMs > 150_000 - 12_000]).toEqual([null, true])
    const before = s.pricedNow(T).price
    pushAll(s, pushes)
    s.mine()
    for (let block = 0; block < 30; block++) {
      for (const { pool, side, amountIn, amountOut } of pushes) {
        s.sim.swap(pool.address, side === 0 ? 1 : 0, amountOut)
        s.sim.swap(pool.address, side, amountIn)
      }
      s.mine()
      expect(isMoved(s, before, UP10) && s.score(T) >= 4).toBe(false)
    }
  })

  test('R-cost-2: a sale ends with one too small to become the evidence, so that the price is where the push ends', () => {
    const s = twoPools(1_000n, 100n)
    const { pushes } = costOf(s, DOWN1)
    for (const { swaps } of pushes) {
      expect(swaps).toHaveLength(2)
      expect((swaps[1]?.amountIn as bigint) * 90_000n).toBeLessThan(swaps[0]?.amountIn as bigint)
    }
    // 1.0% of the price takes hardly more than 1.0% of the pool’s.
    const amount = pushes[0]?.amountIn as bigint
    expect(amount).toBeLessThan(5_060n * E18)
  })

  test('R-cost-2: the pools of an asset are pushed when that is cheaper than the token’s own', () => {
    const s = scenario()
    s.v2(P1, [T, 4_000_000n * E18], [WETH, 2_000n * E18])
    s.v2(P2, [WETH, 200n * E18], [USDC, 400_000n * E6])
    s.enrol(T)
    s.quiet(40 * MINUTE)
    expect(costOf(s, UP1).pushes.map(({ pool }) => pool.address)).toEqual([P2])
  })

  test('R-cost-3: a pool excluded from the vote is not pushed, and one that must agree is pushed no further than needed', () => {
    const few = costOf(twoPools(1_000n, 20n), UP10).pushes
    expect(few.map(({ pool }) => pool.address)).toEqual([P1])
    const s = scenario()
    for (const [pool, deployment] of [
      [P1, 'a'],
      [P2, 'b'],
      [P3, 'c'],
      [P4, 'd'],
    ] as const)
      s.v2(pool, [T, 300_000n * E18], [USDC, 300_000n * E6], { deployment })
    s.enrol(T)
    s.quiet(40 * MINUTE)
    const amounts = costOf(s, UP10).pushes.map(({ amountIn }) => amountIn)
    const most = amounts.reduce((a, b) => (a > b ? a : b))
    expect(amounts.filter(each => each * 10n < most * 9n).length).toBeGreaterThan(0)
  })

  test('R-cost-6: an answer changes nothing, is repeatable, and stays within its work bound', () => {
    const s = twoPools(1_000n, 600n)
    const texts = () => [...entityKeys(s.state)].map(key => encodeEntity(s.state, key))
    const before = texts()
    const answer = () => {
      const cost = computeCost(s.state, T, s.nowMs)
      return cost.outcome === 'cost' ? [cost.head, ...cost.moves] : []
    }
    const first = answer()
    expect(first).toHaveLength(1 + MOVES.length)
    expect(answer()).toEqual(first)
    expect(texts()).toEqual(before)
    const cost = costToMove(s.state, T, s.nowMs)
    if (!isBelievable(cost.present.evaluation)) throw new Error('the price is not believed')
    for (const move of MOVES) {
      const looks = cost.rehearsal.looks
      cost.of(move, cost.present.evaluation)
      expect(cost.rehearsal.looks - looks).toBeLessThan(2 * 2 * MAX_TRIALS + 100)
    }
  })

  test('R-cost-3: the copy gives the same token state as the service, now and over time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), seed => {
        const given = foundIn(seed)
        if (given === null) return
        const { market, cost } = given
        const { price, score, caps, components } = market.s.pricedNow(T)
        expect(cost.present.evaluation).toMatchObject({ price, score, caps, components })
      }),
      { numRuns: cases(10) },
    )
  })

  test('R-cost-3: an attempt is judged the same on a copy with attempts behind it as on a fresh one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), seed => {
        const { s, all } = smallMarket(seed)
        const { state, nowMs } = s
        const used = new Rehearsal(state, T, nowMs)
        // Pools of the token and of its assets in turn: what is kept from one must not reach the other.
        for (const pool of [...all, ...all.toReversed()]) {
          const judge = (rehearsal: Rehearsal) => {
            const copy = rehearsal.pool({ address: pool })
            const push = pushTo(copy, copy.state.amm, { num: 103n, den: 100n })
            return rehearsal.attempt(push === null ? [] : [push], () =>
              [0, 90_000, SETTLED_MS].map(forMs => {
                const { evaluation, dueMs } = rehearsal.lookAfter(ms(forMs))
                if (evaluation.kind === 'UNPRICED') return [evaluation.reason, dueMs]
                const { price, score, caps, components, expiresAtMs } = evaluation
                return [price, score, caps, components, expiresAtMs, dueMs]
              }),
            )
          }
          expect(judge(used)).toEqual(judge(new Rehearsal(state, T, nowMs)))
        }
      }),
      { numRuns: cases(10) },
    )
  })

  test('R-cost-1: a price that is not believed as published has no cost, nor has a stable or a token without a price', () => {
    const s = twoPools(20n, 20n)
    const thin = computeCost(s.state, T, s.nowMs)
    if (thin.outcome !== 'cost') throw new Error(thin.outcome)
    for (const move of thin.moves)
      expect(move).toMatchObject({ reason: 'LOW_SCORE', capital_usd: null, loss_usd_quiet: null, plan: [] })
    expect(computeCost(s.state, USDC, s.nowMs)).toEqual({ outcome: 'is_stable' })
    expect(computeCost(s.state, WETH, s.nowMs)).toEqual({ outcome: 'unpriced', reason: 'NO_POOL' })
    expect(computeCost(s.state, T, ms(s.nowMs + 10_000_000))).toMatchObject({ outcome: 'unpriced' })
  })

  test('R-cost-4: dollars are plain decimals', () => {
    expect([0n, 1n, 1_500_000n, 12_000_000n].map(dollarsText)).toEqual(['0', '0.000001', '1.5', '12'])
  })
})
