import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvariantError } from '../assert.ts'
import { cases } from '../testing/cases.ts'
import { count, ms } from '../units.ts'
import { DEFAULT_POLICY, type Policy } from './policy.ts'
import { policyVersion } from './policyVersion.ts'

const version = (content: unknown): string => policyVersion(content as Policy)

/** The same content with the keys of every object in another order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, field]): [string, unknown] => [key, reordered(field)])
      .reverse(),
  )
}

describe('R-policy-3: policyVersion', () => {
  it('is p and 32 hexadecimal digits', () => {
    expect(policyVersion(DEFAULT_POLICY)).toMatch(/^p[0-9a-f]{32}$/)
  })

  it('does not depend on the order of keys or on formatting', () => {
    expect(version(reordered(DEFAULT_POLICY))).toBe(policyVersion(DEFAULT_POLICY))
    expect(version(JSON.parse(JSON.stringify(DEFAULT_POLICY, null, 4)))).toBe(policyVersion(DEFAULT_POLICY))
  })

  it('changes with any value, key, or order of a list', () => {
    const changed: Policy[] = [
      { ...DEFAULT_POLICY, max_hops: count(2) },
      { ...DEFAULT_POLICY, ttl_ms: { ...DEFAULT_POLICY.ttl_ms, by_chain: {} } },
      {
        ...DEFAULT_POLICY,
        ttl_ms: { ...DEFAULT_POLICY.ttl_ms, by_chain: { '1': ms(3_600_000), '42162': ms(3_600_000) } },
      },
      { ...DEFAULT_POLICY, trade_age_caps: DEFAULT_POLICY.trade_age_caps.toReversed() },
      { ...DEFAULT_POLICY, trade_age_caps: DEFAULT_POLICY.trade_age_caps.slice(1) },
    ]
    expect(new Set([DEFAULT_POLICY, ...changed].map(policyVersion)).size).toBe(1 + changed.length)
  })

  it('is equal exactly for equal content', () => {
    const { tree } = fc.letrec<{ tree: unknown }>(tie => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        fc.integer({ min: 0, max: 3 }),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('tree'), { maxKeys: 3 }),
      ),
    }))
    const sorted = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(sorted)
      if (typeof value !== 'object' || value === null) return value
      return new Map(Object.entries(value).map(([key, field]): [string, unknown] => [key, sorted(field)]))
    }
    const isEqual = (a: unknown, b: unknown): boolean => {
      try {
        expect(sorted(a)).toEqual(sorted(b))
        return true
      } catch {
        return false
      }
    }
    fc.assert(
      fc.property(tree, tree, (a, b) => {
        expect(version(reordered(a))).toBe(version(a))
        expect(version(a) === version(b)).toBe(isEqual(a, b))
      }),
      { numRuns: cases(1000) },
    )
  })

  it('refuses values that have two canonical forms', () => {
    expect(() => version({ ü: 1 })).toThrow(InvariantError)
  })
})
