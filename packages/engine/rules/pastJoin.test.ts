import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { approx } from '../exact/fraction.ts'
import { cases } from '../testing/cases.ts'
import { address } from '../testing/chainSim.ts'
import { type Ms, ms } from '../units.ts'
import { note, rolled, type TokenPast } from './ownPast.ts'
import { joined } from './pastJoin.ts'
import { minuteOf } from './pastWindow.ts'

const T0 = 1_700_000_040_000
const Y = address(1)

type Move = { readonly timeMs: Ms; readonly price: number }

/** So many noted ratios, some of them in one moment and some a few minutes apart. */
const movesOf = (maxLength: number) =>
  fc
    .array(
      fc.tuple(fc.constantFrom(0, 1_000, 12_000, 12_000, 60_000, 200_000), fc.integer({ min: 1, max: 9 })),
      {
        minLength: 1,
        maxLength,
      },
    )
    .map(steps => {
      let timeMs = T0
      return steps.map(([afterMs, price]): Move => ({ timeMs: ms((timeMs += afterMs)), price }))
    })

const moves = movesOf(60)
/** Now and then within one minute. */
const few = movesOf(4)

function fold(list: readonly Move[]): TokenPast {
  let past: TokenPast | null = null
  for (const { timeMs, price } of list) {
    const ratio = { num: BigInt(price), den: 1n }
    past = note(past, timeMs, { ratio, approx: approx(ratio), y: Y, worth: { num: 1n, den: 1n } })
  }
  return past as unknown as TokenPast
}

const all = ({ minutes, open }: TokenPast) => [...minutes, ...open]
const heldAt = (past: TokenPast, timeMs: number) =>
  all(past).findLast(({ fromMs }) => fromMs <= timeMs)?.ratio

describe('a folded past, before a followed one', () => {
  test('R-history-9: is the folded past up to the first followed moment, and the followed one from there on', () => {
    fc.assert(
      fc.property(fc.oneof(moves, few), fc.oneof(moves, few), fc.nat(300), (before, own, skip) => {
        // Both know the same tip; the followed one began later, or did not.
        const followedMoves = own.map(move => ({ ...move, timeMs: ms(move.timeMs + skip * 5_000) }))
        const [folded, followed] = [fold(before), fold(followedMoves)]
        const tipMs = ms(Math.max(before.at(-1)!.timeMs, followedMoves.at(-1)!.timeMs))
        const sinceMs = followedMoves[0]!.timeMs
        const both = joined(followed, folded, tipMs)
        if (before[0]!.timeMs >= sinceMs) {
          expect(both).toBe(followed)
          return
        }
        const [left, right] = [rolled(folded, tipMs), rolled(followed, tipMs)]
        for (let timeMs = T0; timeMs <= tipMs; timeMs += 5_000) {
          const expected = timeMs < sinceMs ? heldAt(left, timeMs) : heldAt(right, timeMs)
          expect(heldAt(both, timeMs)).toEqual(expected)
        }
        expect(heldAt(both, tipMs)).toEqual(heldAt(right, tipMs))
        const times = all(both).map(({ fromMs }) => fromMs)
        expect(times).toEqual(times.toSorted((a, b) => a - b))
        // It continues like any other: one full minute is left, and the open part is of one minute.
        expect(new Set(both.open.map(({ fromMs }) => minuteOf(fromMs))).size).toBe(1)
        expect(rolled(both, tipMs)).toEqual(both)
      }),
      { numRuns: cases(300) },
    )
  })

  test('R-history-9: is the whole past of a token that had none, or an empty one', () => {
    const folded = fold([{ timeMs: ms(T0), price: 1 }])
    expect(joined(null, folded, ms(T0))).toBe(folded)
    expect(joined({ minutes: [], open: [], touchedMs: ms(T0) }, folded, ms(T0))).toBe(folded)
  })
})
