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
    'f2d82546f786b8f6c3f10329c525f4acc0651758ac66de3dd4b4913613d02b03',
  ],
  [
    'branches that die',
    { rounds: 120, maxDepth: 9, reorgChance: 0.3 },
    'b2b47d15f748f1d5abdeea3af46e5817165ba3ba83635f9a1bbc24ad72412fd0',
  ],
  [
    'stops of half an hour and more',
    { rounds: 120, maxDepth: 6, stopChance: 0.05 },
    '15473f6ea018623b7beef18eba8e808e177021e759d22047384f35baebec04a6',
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
