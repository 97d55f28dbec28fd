/**
 * `npm run torture`: the long forms of the hardest tests, one after the other, each with a time limit, and a table at
 * the end. `--quick` runs short forms; names select some: `npm run torture -- crash simulate`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { endGroup } from '../scripts/processGroup.ts'
import { commandLine, misused } from './commandLine.ts'

type Form = {
  /** What it does, and how often. */
  readonly count: string
  readonly script: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly minutes: number
}
type Case = { readonly name: string; readonly long: Form; readonly quick: Form }
type Outcome = {
  readonly name: string
  readonly count: string
  readonly seconds: number
  readonly result: string
}

const vitest = (file: string, env: Readonly<Record<string, string>>, count: string, minutes = 5): Form => ({
  count,
  script: 'node_modules/vitest/vitest.mjs',
  args: ['run', ...file.split(' ')],
  env,
  minutes,
})

const CRASH = 'packages/server/store/crash.test.ts'
const REORGS =
  'packages/server/feed/follow/randomReorgs.test.ts packages/server/feed/follow/wrongAnswers.test.ts'
const FUZZ = 'packages/server/endToEnd/conformance/fuzz.test.ts'
const FRAMES = 'packages/server/endToEnd/conformance/streamFaults.test.ts'
const RESUME = 'packages/server/endToEnd/conformance/resume.test.ts'

/** Combined faults: docs/evidence/FAULTS.md describes each. */
const combined = (name: string, file: string, long: string, quick: string, minutes: number): Case => {
  const path = `packages/server/endToEnd/combined/${file}`
  return {
    name,
    long: vitest(path, { ASSAY_COMBINED: 'long' }, long, minutes),
    quick: vitest(path, { ASSAY_COMBINED: 'quick' }, quick),
  }
}

const CASES: readonly Case[] = [
  {
    name: 'crash',
    long: vitest(
      CRASH,
      { ASSAY_CRASH: 'long' },
      '1,000 kills on SQLite, 100 on PostgreSQL, 20 at each named point',
      90,
    ),
    quick: vitest(CRASH, {}, '8 kills on SQLite, 4 on PostgreSQL, 1 at each named point'),
  },
  {
    name: 'reorgs',
    long: vitest(
      REORGS,
      { ASSAY_REORGS: '10000', ASSAY_WRONG_ANSWERS: '5000' },
      '10,000 reorganisations, 5,000 wrong answers',
      60,
    ),
    quick: vitest(
      REORGS,
      { ASSAY_REORGS: '300', ASSAY_WRONG_ANSWERS: '1000' },
      '300 reorganisations, 1,000 wrong answers',
    ),
  },
  {
    name: 'fuzz',
    long: vitest(FUZZ, { ASSAY_FUZZ_REQUESTS: '100000' }, '100,000 malformed requests', 30),
    quick: vitest(FUZZ, { ASSAY_FUZZ_REQUESTS: '5000' }, '5,000 malformed requests'),
  },
  {
    name: 'frames',
    long: vitest(FRAMES, { ASSAY_STREAM_FRAMES: '100000' }, '100,000 malformed frames', 30),
    quick: vitest(FRAMES, {}, '5,000 malformed frames'),
  },
  {
    name: 'resume',
    long: vitest(RESUME, { ASSAY_STREAM_CUTS: '10000' }, '10,000 cuts', 60),
    quick: vitest(RESUME, { ASSAY_STREAM_CUTS: '500' }, '500 cuts'),
  },
  {
    name: 'simulate',
    long: {
      count: '1,000 h of two chains',
      script: 'trials/simulate.ts',
      args: ['--hours', '1000'],
      minutes: 90,
    },
    quick: {
      count: '25 h of two chains',
      script: 'trials/simulate.ts',
      args: ['--hours', '25'],
      minutes: 5,
    },
  },
  combined(
    'replayed-crash',
    'reorgReplayCrash.torture.ts',
    '7 kills in a reorganisation, 40 clients in each',
    '1 kill, 8 clients',
    20,
  ),
  combined(
    'full-disk',
    'diskFull.test.ts',
    'a disk full for half a minute, 200 trades of the past',
    'a full disk, 10 trades of the past',
    10,
  ),
  combined('endpoints-away', 'endpointsDown.test.ts', '2 endpoints away for 125 s', '2 away for 3 s', 15),
  combined('clock', 'clockSteps.test.ts', '4 steps of an hour, ahead and back', '2 steps of an hour', 10),
  combined('herd', 'reconnectHerd.torture.ts', '1,000 clients after a kill', '60 clients after a kill', 20),
  combined(
    'blocked',
    'blockedApi.torture.ts',
    'an API blocked for 5 s, 20 streams',
    'an API blocked for 2 s, 4 streams',
    10,
  ),
]

/** Output lines shown for a failed case. */
const TAIL = 40
/** The interval of progress reports. */
const PROGRESS_MS = 10_000
/** Characters of a line shown as progress. */
const WIDTH = 110

/** Each case has a process group of its own: all processes it started end with it, or with us. */
let running: ChildProcess | null = null
process.once('exit', () => endGroup(running))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))

const USAGE = `npm run torture -- [NAME]… [--quick]
  names: ${CASES.map(({ name }) => name).join(', ')}`

const { values, positionals } = commandLine(USAGE, {
  options: { quick: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const unknown = positionals.filter(name => CASES.every(each => each.name !== name))
if (unknown.length > 0) misused(USAGE, `there is no case ${unknown.join(', ')}`)
const outcomes: Outcome[] = []
for (const each of CASES.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  const form = values.quick ? each.quick : each.long
  console.log(`${each.name}: ${form.count}`)
  outcomes.push(await run(each.name, form))
}
printTable(outcomes)
process.exitCode = outcomes.every(({ result }) => result === 'passed') ? 0 : 1

async function run(name: string, form: Form): Promise<Outcome> {
  const startMs = performance.now()
  const child = spawn(process.execPath, [form.script, ...(form.args ?? [])], {
    env: { ...process.env, ...form.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  running = child
  let said = ''
  const listen = (part: Buffer) => {
    said = (said + part.toString()).slice(-100_000)
  }
  child.stdout.on('data', listen)
  child.stderr.on('data', listen)
  const secondsSoFar = () => (performance.now() - startMs) / 1000
  const progress = setInterval(() => {
    console.log(`  ${secondsSoFar().toFixed(0)} s of at most ${form.minutes} min; ${lastLine(said)}`)
  }, PROGRESS_MS)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    endGroup(child)
  }, form.minutes * 60_000)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  clearInterval(progress)
  clearTimeout(timer)
  running = null
  const result = isLate ? `not done in ${form.minutes} min` : code === 0 ? 'passed' : 'FAILED'
  const seconds = secondsSoFar()
  if (result !== 'passed') console.log(said.trimEnd().split('\n').slice(-TAIL).join('\n'))
  console.log(`${name}: ${result} in ${seconds.toFixed(0)} s`)
  return { name, count: form.count, seconds, result }
}

/** The progress of a case, in its own words. */
function lastLine(said: string): string {
  const lines = stripVTControlCharacters(said).split('\n')
  return (lines.findLast(line => line.trim() !== '') ?? 'nothing said yet').trim().slice(0, WIDTH)
}

function printTable(rows: readonly Outcome[]): void {
  console.log('\n| case | count | time | result |\n|---|---|---|---|')
  for (const { name, count, seconds, result } of rows)
    console.log(`| ${name} | ${count} | ${seconds.toFixed(0)} s | ${result} |`)
}
