import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { DEFAULT_POLICY } from './policy.ts'
import { PolicyError } from './policyError.ts'
import { mergePolicy } from './policyOverride.ts'

type Leaf = { readonly path: readonly string[]; readonly value: unknown }

/** Every number of the policy with its path; lists count as one leaf, they are replaced whole. */
function leavesOf(value: unknown, path: readonly string[] = []): Leaf[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [{ path, value }]
  return Object.entries(value).flatMap(([key, field]) => leavesOf(field, [...path, key]))
}

const nested = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)

function faultsOf(overrides: unknown) {
  try {
    mergePolicy(overrides)
  } catch (error) {
    if (error instanceof PolicyError) return error.faults
    throw error
  }
  return []
}

const pathsOf = (overrides: unknown): string[] => faultsOf(overrides).map(({ path }) => path)
const leaves = leavesOf(DEFAULT_POLICY)

describe('mergePolicy', () => {
  it('gives the default for nothing', () => {
    expect(mergePolicy(undefined)).toEqual(DEFAULT_POLICY)
    expect(mergePolicy({})).toEqual(DEFAULT_POLICY)
  })

  it('accepts the default itself, as it is served', () => {
    expect(mergePolicy(JSON.parse(JSON.stringify(DEFAULT_POLICY)))).toEqual(DEFAULT_POLICY)
  })

  it('R-policy-2: any subset of the policy object: objects merge, the rest stays', () => {
    const merged = mergePolicy({
      max_hops: 2,
      stable: { stale_cap: 3 },
      ttl_ms: { by_chain: { 56: 60_000 } },
    })
    expect(merged).toEqual({
      ...DEFAULT_POLICY,
      max_hops: 2,
      stable: { ...DEFAULT_POLICY.stable, stale_cap: 3 },
      ttl_ms: {
        ...DEFAULT_POLICY.ttl_ms,
        by_chain: { ...DEFAULT_POLICY.ttl_ms.by_chain, 56: 60_000 },
      },
    })
  })

  it('a list replaces the whole list', () => {
    expect(mergePolicy({ agreement: { edge_sources: [1, 2] } }).agreement.edge_sources).toEqual([1, 2])
    expect(mergePolicy({ agreement: { spread: { up_to: [[5, 9]] } } }).agreement.spread).toEqual({
      up_to: [[5, 9]],
      beyond: 2,
    })
  })

  it('leaves the default unchanged', () => {
    const before = structuredClone(DEFAULT_POLICY)
    mergePolicy({ ttl_ms: { by_chain: { 1: 5_000 } }, jump: { ratio: 50 } })
    expect(DEFAULT_POLICY).toEqual(before)
  })

  it('refuses a wrong type, a fraction, a negative or a huge number at every single field, by name', () => {
    for (const { path } of leaves)
      for (const wrong of [
        '3',
        null,
        true,
        1.5,
        -1,
        2 ** 60,
        Number.NaN,
        Infinity,
        3n,
        undefined,
        {},
        () => 3,
      ])
        expect(pathsOf(nested(path, wrong)), `${path.join('.')}, a ${typeof wrong}`).toEqual([
          ['policy', ...path].join('.'),
        ])
  })

  it('refuses unknown keys at every level, and lists the known ones', () => {
    const objects = new Set(leaves.map(({ path }) => path.slice(0, -1).join('.')))
    for (const object of objects) {
      if (object === 'ttl_ms.by_chain') continue
      const path = object === '' ? [] : object.split('.')
      expect(pathsOf(nested([...path, 'max_hop'], 3))).toEqual([['policy', ...path, 'max_hop'].join('.')])
    }
    expect(faultsOf({ max_hop: 3 })[0]?.expected).toContain('max_hops')
    expect(pathsOf(JSON.parse('{"__proto__": {"max_hops": 1}, "constructor": 1}'))).toEqual([
      'policy.__proto__',
      'policy.constructor',
    ])
  })

  it('refuses a value that is not an object of settings', () => {
    for (const wrong of [null, [], 'strict', 3, new Map(), new Date(0)])
      expect(pathsOf(wrong)).toEqual(['policy'])
    expect(pathsOf({ stable: [] })).toEqual(['policy.stable'])
  })

  it('refuses a chain that is not a chain id', () => {
    for (const key of ['0', '01', 'ethereum', '-1', '1.5', ''])
      expect(pathsOf({ ttl_ms: { by_chain: { [key]: 60_000 } } })).toEqual([`policy.ttl_ms.by_chain.${key}`])
  })

  it('refuses bands out of order, with the same bound twice, or with scores that reverse', () => {
    const depeg = (up_to: unknown, beyond = 0) => pathsOf({ stable: { depeg: { up_to, beyond } } })
    const upTo = 'policy.stable.depeg.up_to'
    const all = 'policy.stable.depeg'
    expect(
      depeg([
        [50, 10],
        [200, 6],
      ]),
    ).toEqual([])
    expect(
      depeg([
        [200, 10],
        [50, 6],
      ]),
    ).toEqual([upTo])
    expect(
      depeg([
        [50, 10],
        [50, 6],
      ]),
    ).toEqual([upTo])
    expect(
      depeg([
        [50, 6],
        [200, 10],
      ]),
    ).toEqual([all])
    expect(depeg([[50, 6]], 7)).toEqual([all])
    expect(pathsOf({ stable: { depeg: { beyond: 4 } } })).toEqual([all])

    const retained = (value: unknown) => pathsOf({ agreement: { retained: value } })
    expect(
      retained([
        [10_000, 10],
        [5_000, 1],
      ]),
    ).toEqual([])
    expect(
      retained([
        [5_000, 10],
        [10_000, 1],
      ]),
    ).toEqual(['policy.agreement.retained'])
    expect(
      retained([
        [10_000, 1],
        [5_000, 10],
      ]),
    ).toEqual(['policy.agreement.retained'])
    expect(retained([[10_000, 10]])).toEqual(['policy.agreement.retained'])

    expect(pathsOf({ agreement: { path_sources: [5, 4] } })).toEqual(['policy.agreement.path_sources'])
    const caps = (value: unknown) => pathsOf({ trade_age_caps: value })
    expect(
      caps([
        { over_ms: 2, cap: 6 },
        { over_ms: 1, cap: 3 },
      ]),
    ).toEqual(['policy.trade_age_caps'])
    expect(
      caps([
        { over_ms: 1, cap: 3 },
        { over_ms: 2, cap: 6 },
      ]),
    ).toEqual(['policy.trade_age_caps'])
  })

  it('refuses lists that are empty, too long, or of the wrong type', () => {
    const sources = (value: unknown) => pathsOf({ agreement: { edge_sources: value } })
    expect(sources([])).toEqual(['policy.agreement.edge_sources'])
    expect(sources(Array.from({ length: 33 }, () => 5))).toEqual(['policy.agreement.edge_sources'])
    expect(sources([5, 11, '6'])).toEqual([
      'policy.agreement.edge_sources[1]',
      'policy.agreement.edge_sources[2]',
    ])
    expect(pathsOf({ stable: { depeg: { up_to: [[50], [60, 11]] } } })).toEqual([
      'policy.stable.depeg.up_to[0]',
      'policy.stable.depeg.up_to[1][1]',
    ])
    expect(pathsOf({ trade_age_caps: [{ over_ms: 5 }] })).toEqual(['policy.trade_age_caps[0].cap'])
  })

  it('reports all faults together, with the name, the value received and what was expected', () => {
    const overrides = {
      max_hops: 0,
      nonsense: 'x'.repeat(500),
      stable: {
        stale_cap: 11,
        depeg: {
          up_to: [
            [9, 1],
            [5, 0],
          ],
        },
      },
      jump: 'off',
    }
    expect(
      faultsOf(overrides)
        .map(({ path }) => path)
        .sort(),
    ).toEqual([
      'policy.jump',
      'policy.max_hops',
      'policy.nonsense',
      'policy.stable.depeg.up_to',
      'policy.stable.stale_cap',
    ])
    let thrown: unknown
    try {
      mergePolicy(overrides)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ code: 'INVALID_POLICY', retryable: false, name: 'PolicyError' })
    const { message } = thrown as PolicyError
    expect(message).toContain('the policy has 5 faults')
    expect(message).toContain('policy.max_hops: received 0, expected an integer from 1 to 8')
    expect(message).toContain('policy.jump: received "off", expected an object')
    expect(message).toContain(
      'policy.stable.depeg.up_to: received [[9,1],[5,0]], expected bands by ascending bound',
    )
    expect(message.length).toBeLessThan(2_000)
  })

  it('throws nothing but a PolicyError, whatever the input', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic['stable'] = cyclic
    expect(pathsOf(cyclic)).toEqual(['policy.stable.stable'])
    fc.assert(
      fc.property(
        fc.constantFrom(...leaves),
        fc.anything({ withBigInt: true, withNullPrototype: true }),
        (leaf, value) => {
          faultsOf(nested(leaf.path, value))
          faultsOf(value)
        },
      ),
      { numRuns: cases(1000) },
    )
  })
})
