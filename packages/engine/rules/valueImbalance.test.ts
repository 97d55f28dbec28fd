import { describe, expect, it } from 'vitest'
import type { Address } from '../chain/block.ts'
import { approx } from '../exact/fraction.ts'
import { E18, E6, P1, P2, P3, P4, T, USDC } from '../testing/cast.ts'
import { scenario } from '../testing/scenario.ts'
import type { Edge, Route, RouteDraft } from '../price/evaluation.ts'
import { rejectImbalanced } from './valueImbalance.ts'
import { DEFAULT_POLICY } from '../policy/policy.ts'

/** A route through the pool of this name. */
const edges = new Map<string, Edge>()
function route(pool: string, num: bigint, weight: bigint, den = 1n): RouteDraft {
  const edge = edges.get(pool) ?? ({ pool: { id: pool } } as unknown as Edge)
  edges.set(pool, edge)
  return {
    id: `${pool}-${num}`,
    first: edge,
    price: { num, den },
    approx: approx({ num, den }),
    weight,
    failure: null,
  } as unknown as RouteDraft
}

function refused(...routes: readonly RouteDraft[]): string[] {
  const failed: Route[] = []
  const kept = rejectImbalanced(DEFAULT_POLICY, routes, failed)
  expect([...kept, ...failed].map(({ id }) => id).sort()).toEqual(routes.map(({ id }) => id).sort())
  for (const { failure } of failed) expect(failure?.rule).toBe('VALUE_IMBALANCE')
  return failed.map(({ id }) => id)
}

describe('VALUE_IMBALANCE of a price', () => {
  it('R-imbalance-1: refuses a pool more than 10 times away from the price elsewhere, above or below, and not at 10', () => {
    expect(refused(route('a', 100n, 50n), route('b', 100n, 40n), route('c', 1_001n, 10n))).toEqual(['c-1001'])
    expect(refused(route('a', 100n, 50n), route('b', 100n, 40n), route('c', 1_000n, 10n))).toEqual([])
    expect(refused(route('a', 1_000n, 50n), route('b', 1_000n, 40n), route('c', 99n, 10n))).toEqual(['c-99'])
    expect(refused(route('a', 1_000n, 50n), route('b', 1_000n, 40n), route('c', 100n, 10n))).toEqual([])
  })

  it('R-imbalance-1: exactly 10 times is within, also beside one that is further', () => {
    expect(refused(route('a', 100n, 80n), route('b', 1_000n, 10n), route('c', 1n, 10n))).toEqual(['c-1'])
    expect(refused(route('a', 100n, 80n), route('b', 10n, 10n), route('c', 5_000n, 10n))).toEqual(['c-5000'])
  })

  it('R-imbalance-2: elsewhere is a consensus only with 67% of the weight: two halves stay an unresolved split', () => {
    expect(refused(route('a', 100n, 67n), route('b', 2_000n, 33n))).toEqual(['b-2000'])
    expect(refused(route('a', 100n, 66n), route('b', 2_000n, 34n))).toEqual([])
    expect(refused(route('a', 100n, 50n), route('b', 2_000n, 50n))).toEqual([])
  })

  it('R-imbalance-2: others who disagree among themselves are no consensus: two pairs of pools refuse no one', () => {
    expect(
      refused(route('a', 100n, 25n), route('b', 100n, 25n), route('c', 5_000n, 25n), route('d', 5_000n, 25n)),
    ).toEqual([])
  })

  it('R-imbalance-1: a pool without any other has no price elsewhere', () => {
    expect(refused(route('a', 1n, 10n), route('a', 1_000n, 10n))).toEqual([])
  })

  it('R-imbalance-1, R-imbalance-3: removes all routes of the refused pool, judged by their weighted median', () => {
    const good = [route('a', 100n, 40n), route('b', 101n, 40n)]
    expect(refused(...good, route('c', 2_000n, 5n), route('c', 3_000n, 5n)).sort()).toEqual([
      'c-2000',
      'c-3000',
    ])
    // One stray route of a pool whose median is near does not condemn it.
    expect(refused(...good, route('c', 99n, 8n), route('c', 3_000n, 2n))).toEqual([])
  })

  it('R-imbalance-3: refuses several at once, each against all others', () => {
    expect(refused(route('a', 100n, 80n), route('b', 5_000n, 10n), route('c', 1n, 10n)).sort()).toEqual([
      'b-5000',
      'c-1',
    ])
  })
})

describe('VALUE_IMBALANCE of a token', () => {
  const X = 1_000_000n * E18
  const Y = 2_000_000n * E6

  it('R-imbalance-1: a deep pool at 50 times the price others agree on is excluded and names the rule', () => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y], { deployment: 'one' })
    s.v2(P2, [T, X], [USDC, Y], { deployment: 'two' })
    s.enrol(T)
    const before = s.price(T)
    s.v2(P3, [T, X / 100n], [USDC, Y / 2n], { deployment: 'three' })
    expect(s.price(T)).toEqual(before)
    const refusedRoute = s.quote(T).routes?.find(({ hops }) => hops[0]?.pool_address === P3)
    expect(refusedRoute).toMatchObject({
      accepted: false,
      reason: 'VALUE_IMBALANCE',
      failure: { rule: 'VALUE_IMBALANCE' },
    })
    expect(s.pricedNow(T).support).toMatchObject({ accepted: 2, rejected: 0, retainedBps: 10_000 })
  })

  it('R-imbalance-2, R-guard-1: a wrong pool as deep as the others is not outvoted: the split caps at 2 and no value is replaced', () => {
    const s = scenario()
    const pools: Address[] = [P1, P2, P3, P4]
    pools.forEach((pool, at) => s.v2(pool, [T, at < 2 ? X : X / 50n], [USDC, Y], { deployment: `d${at}` }))
    s.enrol(T)
    expect(s.score(T)).toBe(2)
    expect(s.priced(T).confidence.caps).toContainEqual({ code: 'NO_INDEPENDENT_CONSENSUS', cap: 2 })
    expect(s.pricedNow(T).support).toMatchObject({ accepted: 4, rejected: 0 })
  })
})
