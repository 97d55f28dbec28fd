/** Tables of the docs name tests that are there: each row's test is looked for, by its name, in the file it links to. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { expectTest } from './namedTests.ts'

const ROW = /^\| (?<sentence>.+?) \| (?<test>.+) \| \[.+\]\(\.\.\/(?<file>.+)\) \|$/
/** By page: fewer would mean that the table is no longer read. */
const LEAST = { 'CONFORMANCE.md': 90, 'SECURITY-REVIEW.md': 75 }

describe.each(Object.entries(LEAST))('docs/%s', (page, least) => {
  const lines = readFileSync(new URL(`../docs/${page}`, import.meta.url), 'utf8').split('\n')
  const rows = lines.map(line => ROW.exec(line)?.groups).filter(groups => groups !== undefined)

  it('the table is read', () => {
    expect(rows.length).toBeGreaterThanOrEqual(least)
    // Whatever stands in a table, its head aside, is a row.
    const inTables = lines.filter(line => line.startsWith('| ') && line.endsWith(') |'))
    expect(rows).toHaveLength(inTables.length)
  })

  it.each(rows)('$sentence', ({ test = '', file = '' }) => expectTest(file, test))
})

it('every risk of the Top Ten has a section with rows in it', () => {
  const review = readFileSync(new URL('../docs/SECURITY-REVIEW.md', import.meta.url), 'utf8')
  const sections = review.split(/^## /m).filter(section => /^API\d+ /.test(section))
  expect(sections.map(section => /^API(\d+) /.exec(section)?.[1])).toEqual(
    Array.from({ length: 10 }, (_, at) => `${at + 1}`),
  )
  for (const section of sections)
    expect(
      section.split('\n').some(line => ROW.test(line)),
      section,
    ).toBe(true)
})
