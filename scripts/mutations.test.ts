/** The list of hand mutations still fits the engine, its tests and the docs page; planting them takes minutes. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mutated, MUTATED_PACKAGE, mutations, tableOf } from './mutations.ts'

const PAGE = 'docs/evidence/MUTATIONS.md'
const pathOf = (file: string): string => join(MUTATED_PACKAGE, file)
const text = (file: string): string => readFileSync(pathOf(file), 'utf8')

test('there are at least twenty, each with a name of its own', () => {
  const names = mutations.map(({ name }) => name)
  expect(names.length).toBeGreaterThanOrEqual(20)
  expect(new Set(names).size).toBe(names.length)
})

test('each search text is in its file exactly once, and is changed', () => {
  const lost = mutations.filter(mutation => {
    const original = text(mutation.file)
    const next = mutated(original, mutation)
    return next === null || next === original
  })
  expect(lost.map(({ name }) => name)).toEqual([])
})

test('none is planted in a test or in test support', () => {
  expect(mutations.filter(({ file }) => file.endsWith('.test.ts') || file.startsWith('testing/'))).toEqual([])
})

test('the tests that must notice it exist, under the given name', () => {
  const missing = mutations.flatMap(({ name, killedBy, pattern }) => {
    const files = killedBy.filter(file => file.endsWith('.test.ts') && existsSync(pathOf(file)))
    const isNamed = pattern === undefined || files.some(file => text(file).includes(pattern))
    return files.length > 0 && files.length === killedBy.length && isNamed ? [] : [name]
  })
  expect(missing).toEqual([])
})

test('the docs page has exactly this table', () => {
  const rows = readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter(line => line.startsWith('|'))
  expect(rows, `print it with \`npm run mutate -- --table\``).toEqual(tableOf(mutations))
})

test('one is planted and killed: the command works', () => {
  const said = execFileSync(process.execPath, ['scripts/mutate.ts', 'tau-ceil'], { encoding: 'utf8' })
  expect(said).toContain('1 of 1 killed')
})
