/**
 * `npm run test:steady`: runs the suites that wait for other processes ten times in a row, while another process
 * keeps a core busy. A test that depends on the speed of this machine fails sooner or later. `--runs 3` runs fewer,
 * names select other suites: `npm run test:steady -- --runs 1 store`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { arch, availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { endGroup } from '../scripts/processGroup.ts'
import { childrenSeconds, usedSince } from '../scripts/processorTime.ts'
import { suites } from '../scripts/suites.ts'
import { commandLine, misused } from './commandLine.ts'
import { type Run, Series } from './steady/series.ts'

const DEFAULT_SUITES = ['chains', 'service', 'store']
const DEFAULT_RUNS = 10
/** The limit of one run: several times its duration on two cores. A longer run hangs, and has failed. */
const RUN_MINUTES = 90
/** What is kept of a run's output: all of an ordinary one, and the end of one that repeats itself. */
const TAIL_LETTERS = 10_000_000

const USAGE = `npm run test:steady -- [SUITE]… [--runs N] [--record FILE [--continue]]
  suites: ${suites.map(({ name }) => name).join(', ')}; ${DEFAULT_SUITES.join(', ')} by default
  --record FILE   write the result of each run to FILE, with the commit, and the output of a failed one beside it
  --continue      count the runs that FILE already has for this commit and these suites`

const { values, positionals } = commandLine(USAGE, {
  options: {
    runs: { type: 'string', default: `${DEFAULT_RUNS}` },
    record: { type: 'string' },
    continue: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
/** The started processes would outlive us, so they are ended when this process exits. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
process.exitCode = await main(Number(values.runs), positionals.length > 0 ? positionals : DEFAULT_SUITES)

async function main(runs: number, names: readonly string[]): Promise<number> {
  const unknown = names.filter(name => !suites.some(suite => suite.name === name))
  if (unknown.length > 0) misused(USAGE, `there is no suite ${unknown.join(', ')}`)
  if (!Number.isInteger(runs) || runs < 1)
    misused(USAGE, `--runs is ${values.runs}; expected a whole number above 0`)
  const series = openSeries(names)
  for (const [at, run] of series.runs.entries()) report(`run ${at + 1} of ${runs}, recorded`, run)
  const busy = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })
  const rest = () => void busy.kill('SIGKILL')
  process.once('exit', rest)
  try {
    while (series.runs.length < runs) {
      const at = series.runs.length + 1
      const [startedMs, usedBefore] = [performance.now(), childrenSeconds()]
      const { text, ...result } = await runOnce(names)
      if (busy.exitCode !== null || busy.signalCode !== null)
        throw new Error('the process that keeps a core busy has ended: the runs say nothing')
      const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1)
      const run = { ...result, took: `${minutes} min${usedSince(usedBefore)}` }
      series.add(run)
      report(`run ${at} of ${runs}`, run)
      if (run.failed > 0) keepOutput(at, text)
    }
  } finally {
    rest()
  }
  const bad = series.runs.filter(({ failed }) => failed > 0).length
  console.log(
    `${names.join(', ')} on ${arch()}, ${availableParallelism()} cores and one of them kept busy: ${series.runs.length - bad} runs passed, ${bad} failed`,
  )
  return bad === 0 ? 0 : 1
}

function openSeries(names: readonly string[]): Series {
  if (values.continue && values.record === undefined) misused(USAGE, '--continue needs --record FILE')
  try {
    return Series.open(names, values.record ?? null, values.continue)
  } catch (failure) {
    return misused(USAGE, (failure as Error).message)
  }
}

function report(title: string, { passed, failed, took, failures }: Run): void {
  console.log(`${title}: ${passed} passed, ${failed} failed in ${took}`)
  for (const failure of failures) console.log(`  ${failure}`)
}

/** The summary has one line a failure; what was expected and received is only in the output. */
function keepOutput(at: number, text: string): void {
  const file = `${values.record ?? join(tmpdir(), `assay-steady-${process.pid}`)}.run-${at}.log`
  writeFileSync(file, text)
  console.log(`  its output: ${file}`)
}

/** The test command with these suites, in a process group that can be ended as a whole. */
async function runOnce(names: readonly string[]): Promise<Omit<Run, 'took'> & { readonly text: string }> {
  const child = spawn(process.execPath, ['scripts/test.ts', ...names], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const end = () => endGroup(child)
  process.once('exit', end)
  const said = listen(child)
  const late = setTimeout(end, RUN_MINUTES * 60_000)
  await once(child, 'close')
  clearTimeout(late)
  process.off('exit', end)
  const text = stripVTControlCharacters(said())
  const failures = text.split('\n').filter(line => line.startsWith('failed: '))
  const counts = /\n(\d+) passed, (\d+) failed\n*$/.exec(text)
  if (counts === null)
    return { passed: 0, failed: 1, failures: [...failures, `no result: ${text.slice(-500)}`], text }
  return { passed: Number(counts[1]), failed: Number(counts[2]), failures, text }
}

/** Prints the line of each suite as it ends, and returns the end of what was said. */
function listen({ stdout, stderr }: ChildProcess): () => string {
  let text = ''
  for (const stream of [stdout, stderr])
    stream?.on('data', part => {
      text = (text + String(part)).slice(-TAIL_LETTERS)
    })
  stdout?.on('data', part => {
    for (const [line] of String(part).matchAll(/^── \w+: \d+ passed, .*$/gm)) console.log(`  ${line}`)
  })
  return () => text
}
