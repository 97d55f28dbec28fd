/** The parts of the docs that are made from the schemas are what the schemas say now. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { madeParts, withParts } from './docsParts.ts'

it.each(Object.entries(madeParts()))('%s is as `npm run docs` writes it', (page, parts) => {
  const text = readFileSync(page, 'utf8')
  expect(withParts(text, parts)).toBe(text)
})
