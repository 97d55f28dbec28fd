/** `npm run docs`: writes the parts of the docs that are generated from the wire schemas and the configuration's. A test keeps them current. */
import { readFileSync, writeFileSync } from 'node:fs'
import { madeParts, withParts } from './docsParts.ts'

for (const [page, parts] of Object.entries(madeParts())) {
  const before = readFileSync(page, 'utf8')
  const after = withParts(before, parts)
  if (after !== before) writeFileSync(page, after)
  console.log(`${page}: ${after === before ? 'as it was' : 'written'}`)
}
