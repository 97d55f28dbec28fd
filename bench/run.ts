/**
 * `npm run bench [-- words…]`: measures the rows whose name contains one of the words, or all rows without words.
 * Prints each as it finishes and writes them to bench/results.json; fails when a goal is missed or a row fails.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Benchmark } from './benchmark.ts'
import { type Module, MODULES, rowsFor, unknownWords } from './catalogue.ts'
import { measure, type Result } from './harness.ts'
import { header, row } from './row.ts'

const CLEAR_LINE = '\r\u001b[K'
const RESULTS = fileURLToPath(new URL('results.json', import.meta.url))

process.exitCode = await main(process.argv.slice(2))

async function main(words: readonly string[]): Promise<number> {
  const unknown = unknownWords(words)
  if (unknown.length > 0) {
    const names = MODULES.flatMap(module => module.rows).map(name => `  ${name}`)
    console.error(`No benchmark has ${unknown.map(word => `"${word}"`).join(' or ')} in its name. There are:`)
    console.error(names.join('\n'))
    return 2
  }
  if (globalThis.gc === undefined)
    console.error('Without --expose-gc garbage of one side is paid by the other.')

  const asked = rowsFor(words)
  const total = asked.reduce((sum, { names }) => sum + names.length, 0)
  const nameWidth = Math.max(...asked.flatMap(({ names }) => names.map(name => name.length)))
  const startedAt = new Date().toISOString()
  const results: Result[] = []
  console.log(header(nameWidth))
  for (const { module, names } of asked) {
    const benchmarks = await load(module)
    for (const name of names) {
      const place = `${results.length + 1}/${total} ${name}`
      const found = benchmarks instanceof Error ? benchmarks : benchmarks.find(each => each.name === name)
      const result =
        found === undefined || found instanceof Error
          ? notMeasured(
              name,
              found?.message ?? `${module.file} has no such row: bench/catalogue.ts disagrees`,
            )
          : await measure(found, stage => showProgress(place, stage))
      if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE)
      console.log(row(result, nameWidth))
      results.push(result)
      write(startedAt, results)
    }
  }
  const [busy = 0] = loadavg()
  if (busy > availableParallelism() + 1)
    console.log(
      `The machine was busy (load ${busy.toFixed(1)} on ${availableParallelism()} cores): times include waiting. Measure on a quiet one before you believe a verdict.`,
    )
  const bad = results.filter(({ verdict }) => verdict === 'missed' || verdict === 'failed')
  console.log(`${results.length} measured, ${bad.length} missed or failed; ${RESULTS}`)
  return bad.length === 0 ? 0 : 1
}

/** A module that does not load, or has rows other than the catalogue's, fails its rows and no others. */
async function load({ file, load, rows }: Module): Promise<readonly Benchmark[] | Error> {
  try {
    const { benchmarks } = await load()
    const unlisted = benchmarks.filter(({ name }) => !rows.includes(name))
    if (unlisted.length === 0) return benchmarks
    return new Error(
      `bench/catalogue.ts does not list ${unlisted.map(({ name }) => name).join('; ')} of ${file}`,
    )
  } catch (error) {
    return new Error(
      `${file} does not load: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    )
  }
}

function notMeasured(name: string, error: string): Result {
  return {
    name,
    unit: '',
    verdict: 'failed',
    ours: null,
    peer: null,
    ratio: null,
    goal: null,
    rounds: 0,
    notes: [],
    error,
  }
}

/** On a terminal one line that is overwritten; in a log only the start of a row. */
function showProgress(place: string, stage: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${CLEAR_LINE}${place}: ${stage}`)
  else if (stage === 'preparing') console.error(place)
}

function write(startedAt: string, results: readonly Result[]): void {
  const machine = {
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    load: loadavg(),
  }
  writeFileSync(RESULTS, `${JSON.stringify({ startedAt, machine, results }, null, 2)}\n`)
}
