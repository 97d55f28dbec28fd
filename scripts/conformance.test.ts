/** Tables of the docs name tests that are there: each row's test is looked for, by its name, in the file it links to. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { expectTest } from './namedTests.ts'
import { sentencesOf, wordsOf } from './specification.ts'

const ROW = /^\| (?<sentence>.+?) \| (?<test>.+) \| \[.+\]\(\.\.\/\.\.\/(?<file>.+)\) \|$/
/** By page: fewer would mean that the table is no longer read. */
const LEAST = { 'CONFORMANCE.md': 240, 'SECURITY-REVIEW.md': 75 }

describe.each(Object.entries(LEAST))('docs/evidence/%s', (page, least) => {
  const lines = readFileSync(new URL(`../docs/evidence/${page}`, import.meta.url), 'utf8').split('\n')
  const rows = lines.map(line => ROW.exec(line)?.groups).filter(groups => groups !== undefined)

  it('the table is read', () => {
    expect(rows.length).toBeGreaterThanOrEqual(least)
    // Every line of a table except its head is a row.
    const inTables = lines.filter(line => line.startsWith('| ') && line.endsWith(') |'))
    expect(rows).toHaveLength(inTables.length)
  })

  it.each(rows)('$sentence', ({ test = '', file = '' }) => expectTest(file, test))
})

it('every risk of the Top Ten has a section with rows in it', () => {
  const review = readFileSync(new URL('../docs/evidence/SECURITY-REVIEW.md', import.meta.url), 'utf8')
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

/** It is not part of this repository: beside it where it is given. */
const SPECIFICATION = new URL('../../shared/specification.md', import.meta.url)
const SECTIONS = [
  '1',
  '2.1',
  '2.2',
  '2.4',
  '3',
  '4',
  '5',
  '6.1',
  '6.2',
  '6.3',
  '6.4',
  '6.5',
  '7.1',
  '7.2',
  '7.3',
  '8',
  '9',
]

describe('the specification', () => {
  const page = readFileSync(new URL('../docs/evidence/CONFORMANCE.md', import.meta.url), 'utf8')
  /** The words quoted from each section. */
  const quoted = new Map(
    page
      .split(/^##+ /m)
      .filter(part => part.startsWith('§'))
      .map(part => [
        /^§(\S+)/.exec(part)?.[1] ?? '',
        part
          .split('\n')
          .flatMap(line => ROW.exec(line)?.groups?.['sentence'] ?? [])
          .map(wordsOf),
      ]),
  )

  it('every section has its table', () => {
    expect([...quoted.keys()]).toEqual(SECTIONS)
    for (const rows of quoted.values()) expect(rows).not.toEqual([])
  })

  // Without the text nobody can compare.
  if (existsSync(SPECIFICATION))
    it('every sentence has a row, and every row a sentence', () => {
      const text = readFileSync(SPECIFICATION, 'utf8')
      const sentences = sentencesOf(text)
      const without = sentences.filter(
        each => !quoted.get(each.section)?.some(words => wordsOf(each.text).includes(words)),
      )
      expect(without).toEqual([])
      for (const words of [...quoted.values()].flat()) expect(wordsOf(text)).toContain(words)
    })
})

it('sentences are rows, items and sentences of paragraphs; open points and introductions are none', () => {
  const page = [
    '# Title',
    '## 1. First',
    'One. Two is: three. It follows:',
    '### 1.1 Table',
    '| a | b |',
    '|---|---|',
    '| x | y |',
    '2. Its limits: not shown.',
    '- an item; Another',
  ]
  expect(sentencesOf(page.join('\n'))).toEqual([
    { section: '1', text: 'One.' },
    { section: '1', text: 'Two is: three.' },
    { section: '1.1', text: ' x   y ' },
    { section: '1.1', text: 'an item;' },
    { section: '1.1', text: 'Another' },
  ])
})
