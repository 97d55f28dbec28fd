/**
 * What the engine says of fixed lives, held by its digest: a change of the code that is no change of a rule leaves every
 * byte as it is. Whoever changes a rule writes the new digest here, and what differs into the change log.
 */
import { afterEach, describe, expect, test } from 'vitest'
import { createState } from './createState.ts'
import { memory } from './memory/switch.ts'
import { Digest } from './testing/digest.ts'
import { randomLife, SETUP } from './testing/randomMarket.ts'

const LIVES = [
  [
    'trades, readings and feeds',
    { rounds: 120, reorgChance: 0 },
    'e53132e85b431eeb40af58b3942ec99eb7268803f8313d9be55035456db8606d',
  ],
  [
    'branches that die',
    { rounds: 120, maxDepth: 9, reorgChance: 0.3 },
    '8cd9c60cd33150618c3eb7e83669a6a59d31960803182d43726b2361a0bedd64',
  ],
  [
    'stops of half an hour and more',
    { rounds: 120, maxDepth: 6, stopChance: 0.05 },
    'c996839c6b3e485745a5d1ce01942d14af2a23f38bcd89caf2ebd3def730af5c',
  ],
] as const

afterEach(() => {
  memory.isOn = true
})

describe.each([
  ['with memory', true],
  ['with memory off', false],
])('%s', (_, isOn) => {
  test.each(LIVES)(
    'R-fold-4: lives with %s: every record, quote and stored entity is the same',
    (_, options, expected) => {
      memory.isOn = isOn
      const digest = new Digest()
      for (let seed = 1; seed <= 4; seed++) {
        const state = createState(SETUP)
        for (const input of randomLife(seed, options).life) digest.step(state, input)
      }
      expect(digest.hex).toBe(expected)
    },
  )
})
