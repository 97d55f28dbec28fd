import { expect, it } from 'vitest'
import * as depthAverage from '../rules/depthAverage.ts'
import { changesOf } from '../memory/temporalTape.ts'
import { DAI, MINUTE, P1, SECOND, T, USDC } from '../testing/cast.ts'
import { type Scenario, scenario } from '../testing/scenario.ts'
import { ms, tick } from '../units.ts'

const LIQUIDITY = 10n ** 24n

/** A v3 pool of T and DAI whose liquidity reaches far past the boundary. */
function wide(known?: readonly [number, number]): Scenario {
  const s = scenario({ stables: [DAI] })
  s.decimals(T, 18)
  s.v3(P1, T, DAI, {
    tick: 1_000,
    positions: [[-60_000, 60_000, LIQUIDITY]],
    ...(known === undefined ? {} : { known: { lowest: tick(known[0]), highest: tick(known[1]) } }),
  })
  return s
}

it('R-fresh-2: a Swap carries the whole price and verifies; a Mint or Burn alone does not', () => {
  const s = wide()
  const { verifiedMs } = s.pool(P1).state
  s.sim.liquidity(P1, -600, 600, LIQUIDITY)
  s.sim.liquidity(P1, -600, 600, -LIQUIDITY)
  s.mine({ proof: 'none', afterMs: 10 * MINUTE })
  expect(s.pool(P1).state).toMatchObject({ changed: { number: s.tip.number }, verifiedMs })
  expect(s.edge(P1).verifiedMs).toBe(verifiedMs)
  s.sell(P1, 10n ** 20n)
  s.mine({ proof: 'none', afterMs: 10 * MINUTE })
  expect(s.edge(P1).verifiedMs).toBe(s.tip.timeMs)
})

it('R-fresh-2: a Sync of a pair is its whole state and verifies', () => {
  const s = scenario()
  s.decimals(T, 18)
  s.v2(P1, [T, 10n ** 24n], [USDC, 10n ** 12n])
  s.reserves(P1, 10n ** 24n + 1n, 10n ** 12n)
  s.mine({ proof: 'none', afterMs: 10 * MINUTE })
  expect(s.edge(P1).verifiedMs).toBe(s.tip.timeMs)
})

it('R-verify-7: a pool that is no longer live has L = 0 and keeps its history and its last accepted price', () => {
  const s = wide()
  const before = s.pool(P1).state
  s.sim.liquidity(P1, -60_000, 60_000, -LIQUIDITY)
  s.mine({ afterMs: 10 * MINUTE })
  const { state } = s.pool(P1)
  expect(state).toMatchObject({ marginal: null, depth: null, depthY: 0n, evidence: null })
  expect(state.average).toMatchObject({ l: 0n, t0: s.tip.timeMs })
  expect(changesOf(state.history)).toEqual(changesOf(before.history))
  expect(state.jump).toEqual(before.jump)
})

it('R-verify-7: while depth is unknown its average continues from the last known one, except for the booked span', () => {
  const s = wide([0, 2_040])
  const average = s.pool(P1).state.average as depthAverage.DepthAverage
  s.sell(P1, 10n ** 23n)
  s.mine({ afterMs: 10 * MINUTE })
  const { state } = s.pool(P1)
  expect(state).toMatchObject({ depth: null, depthY: null, incomplete: true })
  const booked = depthAverage.change(average, 0n, ms(s.nowMs - 12 * SECOND))
  expect(state.average).toEqual(depthAverage.change(booked, average.l, s.nowMs))
})
