import fc from 'fast-check'
import { expect, it } from 'vitest'
import { setPoolState } from '../../chain/changes.ts'
import { poolsOf } from '../../chain/registry.ts'
import { createState } from '../../createState.ts'
import { step } from '../../engine.ts'
import type { State } from '../../state.ts'
import { cases } from '../../testing/cases.ts'
import { E18, E6, MINUTE, P1, P2, T, U, USDC } from '../../testing/cast.ts'
import { randomLife } from '../../testing/randomLife.ts'
import { SETUP } from '../../testing/randomMarket.ts'
import { TICK_FAMILIES } from '../../testing/tickFamilies.ts'
import { type Scenario, scenario } from '../../testing/scenario.ts'
import { count, type Ms, ms } from '../../units.ts'
import { FOREVER } from '../../rules/timed.ts'
import { valueAssets } from '../evaluate.ts'
import { momentOf } from '../momentOf.ts'
import { OwnHops } from './ownHops.ts'

/** Looks at the state of a random market after each of its inputs, then and a while later. */
function throughLives(runs: number, look: (state: State, atMs: Ms) => void): void {
  const laterMs = fc.integer({ min: 1, max: 40 * MINUTE })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), laterMs, (seed, passedMs) => {
      const { life } = randomLife(seed, { families: TICK_FAMILIES, rounds: 25, maxDepth: 6 })
      const state = createState(SETUP)
      for (const input of life) {
        step(state, input)
        if (state.chain.tip === null) continue
        look(state, input.atMs)
        look(state, ms(input.atMs + passedMs))
      }
    }),
    { numRuns: cases(runs) },
  )
}

it('R-timer-3: the guard a hop breaks, its freshness and its own caps hold until the time it names', () => {
  let held = 0
  throughLives(90, (state, atMs) => {
    const moment = momentOf(state, atMs)
    valueAssets(moment)
    for (const pool of state.pools.values()) {
      const edge = moment.edge(pool)
      // Depth that climbs may enter another band before it is looked at again.
      if (edge.isClimbing || edge.dueMs === FOREVER) continue
      const later = momentOf(state, ms(edge.dueMs - 1))
      valueAssets(later)
      // What it leads to has dues of its own.
      if (later.anchor(pool.to).rule !== moment.anchor(pool.to).rule) continue
      const then = later.edge(pool)
      if (then.capacity !== edge.capacity) continue
      expect(then.rule).toBe(edge.rule)
      if (edge.rule === null) expect(then.freshness.score).toBe(edge.freshness.score)
      if (edge.rule === null) expect(then.components.temporal.score).toBe(edge.components.temporal.score)
      held++
    }
  })
  expect(held).toBeGreaterThan(1_000)
})

it('R-timer-1: a token’s own hops together give the earliest time of each', () => {
  let due = 0
  throughLives(60, (state, atMs) => {
    const moment = momentOf(state, atMs)
    valueAssets(moment)
    for (const token of state.tokens.keys()) {
      const own = new OwnHops(moment, token)
      const pools = poolsOf(state, token)
      const edges = pools.map(pool => moment.edge(pool))
      const soonest = Math.min(...edges.map(edge => edge.dueMs))
      expect(own.dueMs).toBe(soonest === Infinity ? null : soonest)
      expect(own.isAged).toBe(edges.some(edge => edge.freshness.score < 10))
      expect(own.edges).toEqual(edges)
      if (own.dueMs !== null) due++
    }
  })
  expect(due).toBeGreaterThan(1_000)
})

/** T with a pool into a stable, and one into U. */
function unanchored(): Scenario {
  const s = scenario()
  s.decimals(T, 18)
  s.decimals(U, 18)
  s.v2(P1, [T, 1_000_000n * E18], [USDC, 2_000_000n * E6])
  s.v2(P2, [T, 1_000_000n * E18], [U, 1_000_000n * E18])
  return s
}

it('R-trigger-6: a hop into no anchor ages like the others when no proven run reaches back to it', () => {
  const s = unanchored()
  const isAged = () => new OwnHops(s.moment(), T).isAged
  expect(s.pool(P2).from).toBe(T)
  expect(isAged()).toBe(false)
  for (let n = 0; n < 3; n++) s.mine({ proof: 'none', afterMs: 5 * MINUTE })
  s.reserves(P1, 1_000_000n * E18, 2_000_001n * E6)
  s.mine({ afterMs: MINUTE })
  expect(isAged()).toBe(true)
  s.reserves(P2, 1_000_001n * E18, 1_000_000n * E18)
  s.mine({ afterMs: MINUTE })
  expect(isAged()).toBe(false)
})

it('R-trigger-6: what is cached of hops into no anchor is dropped when one of them changes', () => {
  const s = unanchored()
  const isAged = () => new OwnHops(s.moment(), T).isAged
  expect(isAged()).toBe(false)
  // As a block that is taken back may leave it.
  const pool = s.pool(P2)
  setPoolState(s.state, pool, { ...pool.state, verifiedNumber: count(0), verifiedMs: ms(0) })
  expect(isAged()).toBe(true)
})

it('R-agreement-3: the cached agreement of a pair equals a fresh computation', () => {
  let remembered = 0
  throughLives(60, (state, atMs) => {
    const kept = momentOf(state, atMs)
    // A caller's own copy of the policy: nothing that is remembered is of it.
    const fresh = momentOf(state, atMs, { policy: { ...state.policyView.policy } })
    for (const pool of state.pools.values()) {
      if (state.index.agreements.has(pool.around.pair)) remembered++
      expect(kept.agreement(pool)).toEqual(fresh.agreement(pool))
    }
  })
  expect(remembered).toBeGreaterThan(1_000)
})
