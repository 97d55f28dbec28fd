import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../chain/block.ts'
import { compare, devBps, type Rational } from '../testing/byHand.ts'
import { cases } from '../testing/cases.ts'
import { address } from '../testing/chainSim.ts'
import { hasMoved, MoveWatch } from './moveWatch.ts'

const [A, B, C, D] = [address(1), address(2), address(3), address(4)]
const price = (num: bigint, den = 1n): Rational => ({ num, den })

/** Positive fractions close enough together for 10 bps to matter. */
const prices = fc
  .tuple(fc.bigInt(9_900n, 10_100n), fc.constantFrom(10_000n, 9_997n, 20_000n))
  .map(([num, den]) => price(num, den))

describe('hasMoved', () => {
  it('R-publish-6: has moved from exactly 10 bps on, up or down, and not any less', () => {
    const [from, many] = [price(10_000n), 10n ** 30n]
    expect(hasMoved(from, price(10_010n), 10n)).toBe(true)
    expect(hasMoved(from, price(10_010n * many - 1n, many), 10n)).toBe(false)
    // dev_bps takes max(p/q, q/p): going down, the same 10 bps are counted from the lower price.
    expect(hasMoved(price(10_010n), from, 10n)).toBe(true)
    expect(hasMoved(from, price(10_000n * 10_000n, 10_010n), 10n)).toBe(true)
    expect(hasMoved(from, price(10_000n * 10_000n * many + 1n, 10_010n * many), 10n)).toBe(false)
  })

  it('is dev_bps ≥ bps, and the same both ways', () => {
    fc.assert(
      fc.property(prices, prices, fc.bigInt(0n, 200n), (a, b, bps) => {
        const expected = compare(devBps(a, b), price(bps)) >= 0 && a !== b
        expect(hasMoved(a, b, bps)).toBe(expected)
        expect(hasMoved(b, a, bps)).toBe(expected)
      }),
      { numRuns: cases(2500) },
    )
  })
})

describe('MoveWatch', () => {
  it('removes every token the anchor has moved away from, above or below, and keeps the others', () => {
    const watch = new MoveWatch()
    watch.file(A, price(9_980n))
    watch.file(B, price(10_000n))
    watch.file(C, price(10_005n))
    watch.file(D, price(10_030n))
    expect(watch.takeMoved(price(10_000n), 10n).sort()).toEqual([A, D])
    expect(watch.takeMoved(price(10_000n), 10n)).toEqual([])
    expect(watch.takeMoved(price(10_015n), 10n).sort()).toEqual([B])
  })

  it('files a token under its last reference only, and removes it on null', () => {
    const watch = new MoveWatch()
    watch.file(A, price(5_000n))
    watch.file(A, price(10_000n))
    watch.file(B, price(5_000n))
    watch.file(B, null)
    expect(watch.takeMoved(price(10_000n), 10n)).toEqual([])
    expect(watch.takeMoved(price(5_000n), 10n)).toEqual([A])
  })

  it('keeps equal references together however they are written', () => {
    const watch = new MoveWatch()
    watch.file(A, price(1n, 2n))
    watch.file(B, price(2n, 4n))
    watch.file(A, null)
    expect(watch.takeMoved(price(1n), 10n)).toEqual([B])
  })

  it('R-publish-6, R-trigger-8: removes exactly those whose reference is at least 10 bps away, each once', () => {
    const action = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          token: fc.integer({ min: 1, max: 12 }).map(address),
          reference: fc.option(prices, { freq: 8 }),
        }),
      },
      { weight: 1, arbitrary: prices },
    )
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), actions => {
        const watch = new MoveWatch()
        const model = new Map<Address, Rational>()
        for (const each of actions) {
          if ('token' in each) {
            watch.file(each.token, each.reference)
            if (each.reference === null) model.delete(each.token)
            else model.set(each.token, each.reference)
            continue
          }
          const moved = [...model].filter(
            ([, reference]) => compare(devBps(reference, each), price(10n)) >= 0,
          )
          expect(watch.takeMoved(each, 10n).sort()).toEqual(moved.map(([token]) => token).sort())
          for (const [token] of moved) model.delete(token)
        }
      }),
      { numRuns: cases(2500) },
    )
  })
})
