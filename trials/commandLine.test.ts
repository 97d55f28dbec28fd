/** Every npm trial prints its usage before it starts anything. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}
const TRIALS = Object.entries(scripts).flatMap(([name, command]) => {
  const file = /^node (trials\/\S+)$/.exec(command)?.[1]
  return file === undefined ? [] : [{ name, file }]
})

/** A trial that starts instead is ended. */
const LONGEST_MS = 60_000

type Ended = { readonly code?: number; readonly stdout: string; readonly stderr: string }

const run = (file: string, word: string): Promise<Ended> =>
  promisify(execFile)(process.execPath, [file, word], { cwd: ROOT, timeout: LONGEST_MS }).catch(
    (failure: Ended) => failure,
  )

test('the trials were found in package.json', () => {
  expect(TRIALS.length).toBeGreaterThan(15)
})

test.each(TRIALS)('npm run $name prints its usage', async ({ name, file }) => {
  const help = await run(file, '--help')
  expect([help.code ?? 0, help.stderr]).toEqual([0, ''])
  expect(help.stdout).toMatch(new RegExp(`^usage: npm run ${name}\\b`))
})

test.each(TRIALS)('npm run $name refuses an unknown option', async ({ file }) => {
  const { code, stdout, stderr } = await run(file, '--no-such-option')
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^Unknown option '--no-such-option'\nusage: npm run /)
})
