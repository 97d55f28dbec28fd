/** `npm run docs:dependencies`: writes the tables of docs/evidence/DEPENDENCIES.md. A test keeps them current. */
import { readFileSync, writeFileSync } from 'node:fs'
import { dependencyParts } from './dependencyTable.ts'
import { withParts } from './docsParts.ts'

const PAGE = 'docs/evidence/DEPENDENCIES.md'

const before = readFileSync(PAGE, 'utf8')
const after = withParts(before, dependencyParts(), 'npm run docs:dependencies')
if (after !== before) writeFileSync(PAGE, after)
console.log(`${PAGE}: ${after === before ? 'as it was' : 'written'}`)
