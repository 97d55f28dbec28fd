import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Series } from './series.ts'

const NAMES = ['store', 'chains']
const PASSED = { passed: 5, failed: 0, took: '1.0 min', failures: [] }
const FAILED = { passed: 4, failed: 1, took: '2.0 min', failures: ['failed: one of them'] }

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-steady-'))
  file = join(folder, 'runs.jsonl')
})
afterEach(() => rmSync(folder, { recursive: true }))

const open = (isContinued: boolean, commit = 'aaa', names: readonly string[] = NAMES) =>
  Series.open(names, file, isContinued, () => commit)

test('a continued series has every recorded run, the failed ones too', () => {
  for (const run of [PASSED, FAILED]) open(true).add(run)
  expect(open(true).runs).toEqual([expect.objectContaining(PASSED), expect.objectContaining(FAILED)])
  expect(open(true, 'aaa', NAMES.toReversed()).runs).toHaveLength(2)
})

test('a series that is not continued overwrites its file', () => {
  open(false).add(FAILED)
  expect(open(false).runs).toEqual([])
  expect(open(true).runs).toEqual([])
})

test('runs of another commit or of other suites are refused, and so is a line that was cut', () => {
  open(false).add(PASSED)
  expect(() => open(true, 'bbb')).toThrow('has runs of commit aaa, and this is bbb')
  expect(() => open(true, 'aaa', ['store'])).toThrow(
    'has runs of the suites chains store, and these are store',
  )
  appendFileSync(file, '{"commit":')
  expect(() => open(true)).toThrow()
})

test('a series without a file counts its runs and asks for no commit', () => {
  const series = Series.open(NAMES, null, false, () => {
    throw new Error('asked')
  })
  series.add(FAILED)
  expect(series.runs).toEqual([FAILED])
})
