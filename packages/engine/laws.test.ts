/**
 * The laws of the fold (R-fold-4, R-fold-5, R-fold-6), on random lives of a market: same inputs, same bytes; through
 * reorganisations or straight to the final chain, the same state; stopped and read back anywhere, the same
 * continuation.
 */
import type { EntityKey } from './entities.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeState, encodeEntity, entityKeys } from './stored/codec.ts'
import { createState } from './createState.ts'
import { step } from './engine.ts'
import type { Input } from './input.ts'
import { evaluate, valueAssets } from './price/evaluate.ts'
import { momentOf } from './price/momentOf.ts'
import type { State } from './state.ts'
import { cases } from './testing/cases.ts'
import { currentState } from './testing/currentState.ts'
import { randomLife } from './testing/randomLife.ts'
import { SETUP } from './testing/randomMarket.ts'
import { TICK_FAMILIES } from './testing/tickFamilies.ts'

const seeds = fc.integer({ min: 0, max: 2 ** 31 })

function fold(
  inputs: readonly Input[],
  state = createState(SETUP),
): { readonly state: State; readonly bytes: string } {
  const said: string[] = []
  for (const input of inputs) said.push(JSON.stringify(step(state, input)))
  return { state, bytes: said.join('\n') }
}

test('R-fold-4: the same inputs give the same bytes', () => {
  fc.assert(
    fc.property(seeds, seed => {
      const { life } = randomLife(seed, { families: TICK_FAMILIES, rounds: 30 })
      expect(fold(life).bytes).toBe(fold(life).bytes)
    }),
    { numRuns: cases(40) },
  )
})

test('R-fold-5, R-visit-7: folding through reorganisations equals folding the final chain', () => {
  fc.assert(
    fc.property(seeds, seed => {
      // Half of the lives have several blocks of one time, so that a branch may end inside a moment.
      const burstChance = seed % 2 === 0 ? 0.6 : 0
      const { life, survivors, endMs } = randomLife(seed, {
        families: TICK_FAMILIES,
        rounds: 40,
        maxDepth: 9,
        reorgChance: 0.3,
        burstChance,
      })
      const timer: Input = { kind: 'timer', atMs: endMs }
      const through = fold([...life, timer]).state
      const straight = fold([...survivors, timer]).state
      expect(currentState(through, endMs)).toEqual(currentState(straight, endMs))
    }),
    // A swap was worth something or nothing, by whether decimals were read before its block was applied for good; tokens of dead
    // branches were touched when decimals came into use.
    { numRuns: cases(150), examples: [[151_815_848], [0]] },
  )
})

test('R-fold-6, R-visit-7: a restart at any point changes nothing', () => {
  fc.assert(
    fc.property(seeds, fc.array(fc.nat(60), { minLength: 1, maxLength: 3 }), (seed, stops) => {
      const { life } = randomLife(seed, {
        families: TICK_FAMILIES,
        rounds: 35,
        maxDepth: 6,
        burstChance: seed % 2 === 0 ? 0.6 : 0,
      })
      const whole = fold(life).bytes.split('\n')
      let state = createState(SETUP)
      life.forEach((input, at) => {
        if (stops.some(stop => stop % life.length === at)) state = decodeState(SETUP, snapshot(state))
        expect(JSON.stringify(step(state, input))).toBe(whole[at])
      })
    }),
    // A token that went to sleep while its chain was paused fell due for good measure after every restart.
    {
      numRuns: cases(60),
      examples: [
        [1_008_298_921, [42, 0]],
        [896_685_128, [28, 0]],
      ],
    },
  )
})

test('R-fold-6: the entities a step names as changed are all a commit needs', () => {
  fc.assert(
    fc.property(seeds, seed => {
      const { life } = randomLife(seed, { families: TICK_FAMILIES, rounds: 30, maxDepth: 6 })
      const state = createState(SETUP)
      const stored = new Map<EntityKey, string>(snapshot(state))
      for (const input of life) {
        for (const key of step(state, input).changed) {
          const text = encodeEntity(state, key)
          if (text === null) stored.delete(key)
          else if (!key.startsWith('quote/')) stored.set(key, text)
        }
      }
      expect([...stored].sort()).toEqual(snapshot(state).sort())
    }),
    { numRuns: cases(60) },
  )
})

test('R-fold-7: published records always have the current state, score and caps', () => {
  fc.assert(
    fc.property(seeds, seed => {
      const { life, endMs } = randomLife(seed, { families: TICK_FAMILIES, rounds: 40, maxDepth: 6 })
      const { state } = fold([...life, { kind: 'timer', atMs: endMs }])
      const moment = momentOf(state, endMs)
      valueAssets(moment)
      for (const token of state.tokens.values()) {
        if (token.published === null || token.dormant !== null) continue
        const { compact } = token.published
        const now = evaluate(moment, token.address)
        expect(compact.state).toBe(now.kind)
        if (compact.state === 'PRICED' && now.kind === 'PRICED')
          expect([compact.confidence.score, compact.confidence.caps]).toEqual([now.score, now.caps])
        if (compact.state === 'UNPRICED' && now.kind === 'UNPRICED') expect(compact.reason).toBe(now.reason)
      }
    }),
    { numRuns: cases(100) },
  )
})

function snapshot(state: State): [EntityKey, string][] {
  return [...entityKeys(state)].map(key => [key, encodeEntity(state, key) as string])
}
