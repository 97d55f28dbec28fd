/**
 * The mutation command: plants each hand mutation of `mutations.ts` in a copy of the engine and runs the tests that
 * must notice it. It exits with 1 when one survives. Give names to plant only some: `npm run mutate -- tau-ceil
 * kept-weight`; `--table` prints the table of docs/evidence/MUTATIONS.md instead.
 *
 * The repository itself is never touched. The copy, and every process in it, is gone when the command ends.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mutated, type Mutation, MUTATED_PACKAGE, mutations, tableOf } from './mutations.ts'
import { endGroup } from './processGroup.ts'

/** Several times the duration of the slowest test on a busy core. A run beyond it counts as a hang. */
const LIMIT_MS = 60_000

/** How much quicker than the limit the unmutated tests must be before exceeding the limit counts as a hang. */
const HANG_SHARE = 0.5

/** Files that the tests need in addition to the package itself. */
const CONFIGURATION = ['package.json', 'tsconfig.json']
/** Not the repository's own, which also sets up the tests of the service. */
const VITEST = "export default { test: { pool: 'forks', testTimeout: 120_000 } }\n"

type Tests = Pick<Mutation, 'killedBy' | 'pattern'>

type Run = {
  readonly outcome: 'passed' | 'failed' | 'timeout' | 'broken'
  /** The first test that failed, or the error. */
  readonly detail: string
  readonly seconds: number
}

type Verdict = { readonly killed: boolean; readonly word: string; readonly detail: string }

const root = process.cwd()
const folder = mkdtempSync(join(tmpdir(), 'assay-mutate-'))
let running: ChildProcess | null = null

function cleanUp(): void {
  endGroup(running)
  rmSync(folder, { recursive: true, force: true })
}

async function main(names: readonly string[]): Promise<number> {
  if (names.includes('--table')) {
    console.log(tableOf(mutations).join('\n'))
    return 0
  }
  const unknown = names.filter(name => !mutations.some(mutation => mutation.name === name))
  if (unknown.length > 0) {
    console.error(
      `No mutation ${unknown.join(', ')}. There are:\n${mutations.map(each => each.name).join('\n')}`,
    )
    return 2
  }
  const chosen = mutations.filter(({ name }) => names.length === 0 || names.includes(name))
  const lost = chosen.filter(mutation => mutated(sourceOf(mutation), mutation) === null)
  if (lost.length > 0) {
    for (const { name, file } of lost) console.error(`${name}: what it looks for is not once in ${file}`)
    return 1
  }
  copyEngine()
  if (!(await areGreen(chosen))) return 1

  const width = Math.max(...chosen.map(({ name }) => name.length))
  const survivors: string[] = []
  for (const mutation of chosen) {
    const { verdict, seconds } = await plant(mutation)
    if (!verdict.killed) survivors.push(mutation.name)
    const time = seconds.toFixed(1).padStart(5)
    console.log(`${verdict.word.padEnd(8)} ${mutation.name.padEnd(width)} ${time} s  ${verdict.detail}`)
  }
  console.log(`\n${chosen.length - survivors.length} of ${chosen.length} killed`)
  if (survivors.length > 0) console.error(`Not killed: ${survivors.join(', ')}`)
  return survivors.length === 0 ? 0 : 1
}

const sourceOf = ({ file }: Mutation): string => readFileSync(join(root, MUTATED_PACKAGE, file), 'utf8')

function copyEngine(): void {
  const isSource = (path: string) => !path.includes('node_modules')
  cpSync(join(root, MUTATED_PACKAGE), join(folder, MUTATED_PACKAGE), { recursive: true, filter: isSource })
  for (const file of CONFIGURATION) cpSync(join(root, file), join(folder, file))
  writeFileSync(join(folder, 'vitest.config.ts'), VITEST)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
}

/** Every run that is meant to fail passes without the mutation, and contains a test. */
async function areGreen(chosen: readonly Mutation[]): Promise<boolean> {
  const whole = new Set(chosen.filter(({ pattern }) => pattern === undefined).flatMap(each => each.killedBy))
  const patterns = Map.groupBy(
    chosen.filter(({ pattern }) => pattern !== undefined),
    ({ killedBy, pattern }) => `${killedBy.join(' ')} ${pattern}`,
  )
  const runs: Tests[] = [
    ...[...whole].map(file => ({ killedBy: [file] })),
    ...[...patterns.values()].map(([first]) => first as Tests),
  ]
  const started = performance.now()
  for (const tests of runs) {
    const { outcome, detail } = await runTests(tests)
    if (outcome === 'passed') continue
    console.error(`Without a mutation ${nameOf(tests)} ${outcome}: ${detail}`)
    return false
  }
  const seconds = (performance.now() - started) / 1000
  console.log(`green    without a mutation: ${runs.length} runs in ${seconds.toFixed(1)} s\n`)
  return true
}

async function plant(mutation: Mutation): Promise<{ readonly verdict: Verdict; readonly seconds: number }> {
  const path = join(folder, MUTATED_PACKAGE, mutation.file)
  const original = readFileSync(path, 'utf8')
  writeFileSync(path, mutated(original, mutation) as string)
  const run = await runTests(mutation)
  writeFileSync(path, original)
  return { verdict: await judge(mutation, run), seconds: run.seconds }
}

/** Only a failed test kills. A run over time kills when the same tests are quick without the mutation. */
async function judge(mutation: Mutation, { outcome, detail }: Run): Promise<Verdict> {
  switch (outcome) {
    case 'failed':
      return { killed: true, word: 'killed', detail }
    case 'passed':
      return { killed: false, word: 'SURVIVED', detail: nameOf(mutation) }
    case 'broken':
      return { killed: false, word: 'BROKEN', detail }
    case 'timeout': {
      const unmutated = await runTests(mutation)
      const isHang = unmutated.outcome === 'passed' && unmutated.seconds * 1000 < HANG_SHARE * LIMIT_MS
      return isHang
        ? { killed: true, word: 'killed', detail: `hung; without it ${unmutated.seconds.toFixed(1)} s` }
        : { killed: false, word: 'TOO SLOW', detail: `${nameOf(mutation)}: this machine is too busy to tell` }
    }
  }
}

const nameOf = ({ killedBy, pattern }: Tests): string =>
  pattern === undefined ? killedBy.join(', ') : `${killedBy.join(', ')} (${pattern})`

async function runTests({ killedBy, pattern }: Tests): Promise<Run> {
  const report = join(folder, 'report.json')
  rmSync(report, { force: true })
  const started = performance.now()
  const ended = await vitest([
    'run',
    ...killedBy.map(file => `${MUTATED_PACKAGE}/${file}`),
    ...(pattern === undefined ? [] : ['-t', literally(pattern)]),
    '--bail=1',
    '--maxWorkers=1',
    // The link would write caches into the repository's own node_modules.
    '--no-cache',
    '--no-fsModuleCache',
    '--configLoader=native',
    '--reporter=json',
    `--outputFile=${report}`,
  ])
  const seconds = (performance.now() - started) / 1000
  if (ended.isLate) return { outcome: 'timeout', detail: `over ${LIMIT_MS / 1000} s`, seconds }
  const { passed, failed, firstFailure } = readReport(report)
  if (failed > 0) return { outcome: 'failed', detail: firstFailure, seconds }
  if (ended.code !== 0) return { outcome: 'broken', detail: firstLineOf(firstFailure + ended.said), seconds }
  if (passed === 0) return { outcome: 'broken', detail: 'no test has that name', seconds }
  return { outcome: 'passed', detail: '', seconds }
}

/** Vitest takes a regular expression. */
const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

type Ended = { readonly code: number | null; readonly isLate: boolean; readonly said: string }

function vitest(args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...args], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  running = child
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (part: string) => (said += part))
  let isLate = false
  const alarm = setTimeout(() => {
    isLate = true
    endGroup(child)
  }, LIMIT_MS)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => {
      clearTimeout(alarm)
      endGroup(child)
      running = null
      resolve({ code, isLate, said })
    })
  })
}

type Report = {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    /** For a file that could not be loaded. */
    readonly message: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

function readReport(path: string): {
  readonly passed: number
  readonly failed: number
  /** The test that failed first, or why a file did not load. */
  readonly firstFailure: string
} {
  try {
    const { numPassedTests, numFailedTests, testResults }: Report = JSON.parse(readFileSync(path, 'utf8'))
    const failures = testResults.flatMap(({ assertionResults, message }) => [
      ...assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
      ...(assertionResults.length === 0 ? [message] : []),
    ])
    return { passed: numPassedTests, failed: numFailedTests, firstFailure: failures[0] ?? '' }
  } catch {
    return { passed: 0, failed: 0, firstFailure: '' }
  }
}

const firstLineOf = (text: string): string =>
  text
    .split('\n')
    .map(line => line.trim())
    .find(line => line !== '') ?? 'vitest said nothing'

process.once('exit', cleanUp)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
process.exit(await main(process.argv.slice(2)))
