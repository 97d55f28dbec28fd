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
    'b138d2a60b8d1061fa553eaeb156f19743ed10badd575bb0665fda23bb03cdb3',
  ],
  [
    'branches that die',
    { rounds: 120, maxDepth: 9, reorgChance: 0.3 },
    '8d6fb2386508218bff64c15f0fbf2325cceaea51dbafe20a1c7705ea8fa5efe4',
  ],
  [
    'stops of half an hour and more',
    { rounds: 120, maxDepth: 6, stopChance: 0.05 },
    '129d0cf9e1d2721de7a19a7aeda3557249682a5c125d0eee77da068a2f58b21e',
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
