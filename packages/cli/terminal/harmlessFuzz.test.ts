/** Text from a service never controls the terminal. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs, survive, text } from '../../server/ops/testing/hostile.ts'
import { harmless } from './harmless.ts'

const COMMANDS = [
  '\u001b[2J',
  '\u001b[H',
  '\u001b]0;title\u0007',
  '\u001b[6n',
  '\u009b2J',
  '\r',
  '\b',
  '\u001bc',
  '\u202e',
  '\u001b',
]

it('arbitrary text loses its cursor, erase, query and direction codes, and keeps colours and line breaks', () => {
  const said = fc.array(fc.oneof(text(20), fc.constantFrom(...COMMANDS, '\u001b[31m', '\u001b[0m', '\n')), {
    maxLength: 8,
  })
  fc.assert(
    fc.property(said, parts => {
      const shown = survive(() => harmless(parts.join(''))) ?? ''
      // oxlint-disable-next-line no-control-regex -- those are what is looked for
      const uncoloured = shown.replaceAll(/\u001b\[[0-9;]{0,20}m/g, '')
      // oxlint-disable-next-line no-control-regex -- those are what is looked for
      expect(uncoloured).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
    }),
    runs(500),
  )
  expect(harmless('a \u001b[31mred\u001b[39m word\nand another')).toBe(
    'a \u001b[31mred\u001b[39m word\nand another',
  )
})
