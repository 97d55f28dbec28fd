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
    'c4e0bb3b06dea53a2446bc8fd735cc88dcbe860da34904dce3141036a8b5ccc3',
  ],
  [
    'branches that die',
    { rounds: 120, maxDepth: 9, reorgChance: 0.3 },
    '7931323db3f5ab449ce6f241ead86d1896e6d60e11d178e30a4ce849eaceaf62',
  ],
  [
    'stops of half an hour and more',
    { rounds: 120, maxDepth: 6, stopChance: 0.05 },
    'e1520b2a09139a7b08c582af2f5b298de3a67743578a0c8b1d517d248f2b3581',
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
