/**
 * The test command: every suite in its own vitest run, one after the other, each with its times, then all failures
 * again by name, and a last line `N passed, N failed` that scripts can read. Give names to run only some: `npm test
 * -- engine`. `ASSAY_AT_ONCE` sets the number of concurrent files, for machines that can run fewer than a suite
 * requests.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { namedBrowser } from '../packages/console/testing/namedBrowser.ts'
import { anvilBinary } from '../packages/world/anvil.ts'
import { childrenSeconds, usedSince } from './processorTime.ts'
import { type Need, type Suite, suites } from './suites.ts'

/** `failures`: one line per failed test, so that nobody has to search the thousand lines above. */
type Counts = { readonly passed: number; readonly failed: number; readonly failures: readonly string[] }
type Outcome = Counts & { readonly seconds: number }

async function main(names: readonly string[]): Promise<void> {
  const unknown = names.filter(name => !suites.some(suite => suite.name === name))
  if (unknown.length > 0) {
    console.error(`No suite ${unknown.join(', ')}. There are: ${suites.map(suite => suite.name).join(', ')}`)
    process.exit(2)
  }
  const chosen = suites.filter(suite => names.length === 0 || names.includes(suite.name))
  const lacking = lackOf(chosen)
  if (lacking !== null) {
    console.error(lacking)
    process.exit(1)
  }
  const outcomes: Outcome[] = []
  for (const suite of chosen) {
    console.log(`\n── ${suite.name}: ${suite.about}`)
    const usedBefore = childrenSeconds()
    const outcome = await runSuite(suite)
    outcomes.push(outcome)
    console.log(
      `── ${suite.name}: ${outcome.passed} passed, ${outcome.failed} failed in ${outcome.seconds.toFixed(1)} s${usedSince(usedBefore)}`,
    )
  }
  const passed = outcomes.reduce((sum, each) => sum + each.passed, 0)
  const failed = outcomes.reduce((sum, each) => sum + each.failed, 0)
  for (const failure of outcomes.flatMap(each => each.failures)) console.log(`\nfailed: ${failure}`)
  console.log(`\n${passed} passed, ${failed} failed`)
  process.exit(failed === 0 && passed > 0 ? 0 : 1)
}

/** Why some of these suites cannot run here, in one line instead of hundreds of failed tests. */
function lackOf(chosen: readonly Suite[]): string | null {
  for (const { name, needs = [] } of chosen)
    for (const need of needs)
      try {
        LOOK_FOR[need]()
      } catch (failure) {
        const others = suites.filter(suite => !suite.needs?.includes(need)).map(suite => suite.name)
        return `The suite ${name} cannot run: ${(failure as Error).message}. Without it: npm test -- ${others.join(' ')}`
      }
  return null
}

const LOOK_FOR: Readonly<Record<Need, () => unknown>> = { anvil: anvilBinary, chromium: namedBrowser }

async function runSuite({ include, atOnce, isShared = false }: Suite): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-test-'))
  const report = join(folder, 'report.json')
  const started = performance.now()
  const code = await run([
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=dot',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...workersOf(atOnce),
    ...(isShared ? ['--no-isolate'] : []),
    ...include,
  ])
  const seconds = (performance.now() - started) / 1000
  const counts = countIn(report)
  rmSync(folder, { recursive: true })
  if (counts.failed > 0 || (code === 0 && counts.passed > 0)) return { ...counts, seconds }
  // A run that broke outside a test, or found no tests, is a failure too.
  const failures =
    counts.failures.length > 0 ? counts.failures : [`the run of ${include.join(' ')} ended with ${code}`]
  return { ...counts, failed: 1, failures, seconds }
}

function workersOf(atOnce: number | undefined): readonly string[] {
  const workers = process.env['ASSAY_AT_ONCE'] ?? atOnce
  return workers === undefined ? [] : [`--maxWorkers=${workers}`]
}

function countIn(report: string): Counts {
  try {
    const { numPassedTests, numTotalTests, testResults } = JSON.parse(readFileSync(report, 'utf8'))
    return {
      passed: numPassedTests,
      failed: numTotalTests - numPassedTests,
      failures: testResults.flatMap(failuresOf),
    }
  } catch (failure) {
    return { passed: 0, failed: 1, failures: [`no report to read: ${(failure as Error).message}`] }
  }
}

type FileResult = {
  readonly name: string
  readonly status: string
  readonly message: string
  readonly assertionResults: readonly TestResult[]
}
type TestResult = {
  readonly fullName: string
  readonly status: string
  readonly failureMessages: readonly string[]
}

function failuresOf({ name, status, message, assertionResults }: FileResult): string[] {
  const file = relative(process.cwd(), name)
  const failed = assertionResults.filter(test => test.status !== 'passed')
  if (failed.length === 0 && status === 'failed') return [`${file}: ${firstLines(message)}`]
  return failed.map(
    test => `${file} › ${test.fullName}: ${firstLines(test.failureMessages[0] ?? test.status)}`,
  )
}

const firstLines = (text: string): string => text.split('\n').slice(0, 6).join('\n  ').slice(0, 600)

function run(args: readonly string[]): Promise<number | null> {
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
}

await main(process.argv.slice(2))
