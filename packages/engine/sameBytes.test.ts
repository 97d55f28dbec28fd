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
    '36f872ef4d05c69b49d3b14a7941ff939f5af5cd3785c82edef2e1e3aae8566b',
  ],
  [
    'branches that die',
    { rounds: 120, maxDepth: 9, reorgChance: 0.3 },
    'd1798893b38736b22a79c7a9cc4f82d0a086702864600d17ec47c30f7dea8de1',
  ],
  [
    'stops of half an hour and more',
    { rounds: 120, maxDepth: 6, stopChance: 0.05 },
    '4fadd0adf723249678ec8b010c59c4647fada7ce4f8ceee7c58be206931e1692',
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
