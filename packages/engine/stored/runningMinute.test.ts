/**
 * The running minute of a token as the store keeps it: with each change only the entities that the engine names, and what
 * is read back from them is the past itself.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dropPast, setTokenPast } from '../chain/journal.ts'
import { createState } from '../createState.ts'
import type { EntityKey, Token } from '../entities.ts'
import * as fraction from '../exact/fraction.ts'
import { note, type TokenPast } from '../rules/ownPast.ts'
import type { State } from '../state.ts'
import { cases } from '../testing/cases.ts'
import { SETUP } from '../testing/randomMarket.ts'
import { ms } from '../units.ts'
import { decodeState, encodeEntity, entityKeys } from './codec.ts'
import { write } from './words.ts'

const TOKEN = SETUP.routingAssets[0] as Token['address']
/** A full minute. */
const START_MS = 1_699_999_980_000

type Stored = Map<EntityKey, string>
type Image = { readonly open: { readonly kept: number; readonly after: readonly unknown[] } }

/** Writes what a commit would write. */
function commit(state: State, stored: Stored): void {
  for (const key of state.index.changed) {
    const text = encodeEntity(state, key)
    if (text === null) stored.delete(key)
    else stored.set(key, text)
  }
  state.index.changed.clear()
}

const isOfPast = (key: string): boolean => /^(past|open|minutes)\//.test(key)
const pastTexts = (state: State): [EntityKey, string][] =>
  [...entityKeys(state)].filter(isOfPast).map(key => [key, encodeEntity(state, key) as string])

/** A moment that notes a ratio `afterMs` later; or the undoing of as many blocks. */
const change = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({ afterMs: fc.constantFrom(0, 450, 450, 450, 900), num: fc.bigInt(1n, 30n) }),
  },
  { weight: 1, arbitrary: fc.record({ afterMs: fc.constant(61_000), num: fc.bigInt(1n, 30n) }) },
  { weight: 2, arbitrary: fc.record({ undone: fc.constantFrom(1, 2, 3, 3, 6, 200) }) },
)

test('R-past-6: what each commit changes is enough to read the running minute back, undone blocks included', () => {
  let partly = 0
  let dropped = 0
  fc.assert(
    fc.property(fc.array(change, { minLength: 40, maxLength: 80 }), changes => {
      const state = createState(SETUP)
      const token = state.tokens.get(TOKEN) as Token
      const stored: Stored = new Map(
        [...entityKeys(state)].map(key => [key, encodeEntity(state, key) as string]),
      )
      const pasts: (TokenPast | null)[] = [null]
      let nowMs = START_MS
      for (const each of changes) {
        if ('undone' in each) {
          pasts.splice(Math.max(1, pasts.length - each.undone))
          const before = pasts.at(-1) ?? null
          if (before === null) dropped++
          if (before === null) dropPast(state, token)
          else setTokenPast(state, token, before)
          nowMs = before?.touchedMs ?? START_MS
        } else {
          nowMs += each.afterMs
          const ratio = { num: each.num, den: 7n }
          const found = { ratio, approx: fraction.approx(ratio), y: TOKEN, worth: { num: 1n, den: each.num } }
          setTokenPast(state, token, note(token.past, ms(nowMs), found))
          pasts.push(token.past)
        }
        commit(state, stored)
        const back = decodeState(SETUP, stored)
        expect(back.tokens.get(TOKEN)?.past).toEqual(token.past)
        expect(pastTexts(back)).toEqual(pastTexts(state))
        expect(
          pastTexts(state)
            .map(([key]) => key)
            .sort(),
        ).toEqual([...stored.keys()].filter(isOfPast).sort())
        const text = stored.get(`past/${TOKEN}`)
        if (text !== undefined && (JSON.parse(text) as Image).open.kept > 0) partly++
      }
    }),
    { numRuns: cases(40) },
  )
  expect(partly).toBeGreaterThan(500)
  expect(dropped).toBeGreaterThan(1)
})

test('of a busy minute, a change stores few ratios', () => {
  const state = createState(SETUP)
  const token = state.tokens.get(TOKEN) as Token
  let ratios = 0
  const moments = 130
  for (let at = 0; at < moments; at++) {
    const ratio = { num: BigInt(at + 1), den: 7n }
    const found = { ratio, approx: fraction.approx(ratio), y: TOKEN, worth: { num: 1n, den: 1n } }
    setTokenPast(state, token, note(token.past, ms(START_MS + at * 450), found))
    const { open } = JSON.parse(encodeEntity(state, `past/${TOKEN}`) as string) as Image
    ratios += open.after.length
    if (state.index.changed.delete(`open/${TOKEN}`)) ratios += token.past?.open.length ?? 0
  }
  expect(token.past?.open.length).toBe(moments)
  // Written whole with every change, it would be 65 ratios on average.
  expect(ratios / moments).toBeLessThan(13)
})

test('R-past-6: a minute stored whole, as by the version before, is read and continues in the new form', () => {
  const state = createState(SETUP)
  const token = state.tokens.get(TOKEN) as Token
  const noted = (at: number) => {
    const ratio = { num: BigInt(at + 1), den: 7n }
    return { ratio, approx: fraction.approx(ratio), y: TOKEN, worth: { num: 1n, den: 1n } }
  }
  for (let at = 0; at < 40; at++)
    setTokenPast(state, token, note(token.past, ms(START_MS + at * 450), noted(at)))
  const { open, touchedMs } = token.past as TokenPast
  const whole = write({ open: open.map(({ approx: _approx, ...each }) => each), touchedMs })
  const stored: Stored = new Map([...entityKeys(state)].map(key => [key, encodeEntity(state, key) as string]))
  stored.delete(`open/${TOKEN}`)
  stored.set(`past/${TOKEN}`, whole)

  const back = decodeState(SETUP, stored)
  const own = back.tokens.get(TOKEN) as Token
  expect(own.past).toEqual(token.past)
  setTokenPast(back, own, note(own.past, ms(START_MS + 40 * 450), noted(40)))
  commit(back, stored)
  expect(decodeState(SETUP, stored).tokens.get(TOKEN)?.past).toEqual(own.past)
  expect(own.past?.open.length).toBe(41)
})
