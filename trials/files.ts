/**
 * `npm run test:files`: exports over HTTP, read by third-party programs and compared with the log row by row: Parquet
 * by DuckDB and by ClickHouse (chdb), CSV by Python's own reader, candles against Python's fractions. A million
 * prices, and the memory of the exporting process compared with that for a tenth of them; ASSAY_FILES_PRICES=50000
 * uses fewer.
 *
 * Needs Python 3 with pip, which downloads the two readers from PyPI into .cache/readers the first time.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { residentMib } from './residentMib.ts'
import { commandLine } from './commandLine.ts'

commandLine('npm run test:files\n  ASSAY_FILES_PRICES=50000 uses fewer than a million prices', {})

const ROOT = resolve(import.meta.dirname, '..')
const READERS = join(ROOT, '.cache', 'readers')
const PACKAGES = ['duckdb==2.0.0', 'chdb==4.4.0']
const PRICES = Number(process.env['ASSAY_FILES_PRICES'] ?? 1_000_000)
const MARKET_ROUNDS = 500
const SAMPLE_MS = 50
/** The additional memory that ten times the rows may cost the exporting process. */
const FLAT_MIB = 64
/**
 * Limits of the exporting process's heap. Without them the collector waits for as long as the machine has memory, and
 * resident memory says more about its patience than about what an export holds; one that held its rows would end here.
 */
const HEAP = ['--max-old-space-size=128', '--max-semi-space-size=16']

type Exporter = { readonly url: string; readonly key: string; readonly process: ChildProcess }

const PROGRAM = join(ROOT, 'trials/files/exporter.ts')
/** Reported at the end: differences from the log matter more. */
const faults: string[] = []
bringReaders()
const folder = mkdtempSync(join(tmpdir(), 'assay-files-'))
try {
  await allOf(join(folder, 'big'), 'big', PRICES, ['prices', 'retractions', 'events'])
  await allOf(join(folder, 'market'), 'market', MARKET_ROUNDS, ['prices', 'retractions', 'events', 'candles'])
  if (faults.length > 0) throw new Error(faults.join('; '))
} catch (failure) {
  console.error(`test:files: ${failure instanceof Error ? failure.message : String(failure)}`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function allOf(place: string, log: string, size: number, kinds: readonly string[]): Promise<void> {
  mkdirSync(place)
  const filled = spawnSync(process.execPath, [PROGRAM, 'fill', place, log, String(size)], {
    stdio: 'inherit',
  })
  if (filled.status !== 0) throw new Error(`the log ${log} could not be written`)
  const filesOf = (kind: string) => ['parquet', 'csv'].map(format => join(place, `${kind}.${format}`))
  const exporter = await serve(place)
  try {
    for (const kind of kinds)
      for (const file of filesOf(kind))
        await exported(exporter, kind, file, log === 'big' && kind === 'prices')
  } finally {
    exporter.process.stdin?.end()
    if (exporter.process.exitCode === null) await once(exporter.process, 'exit')
  }
  for (const kind of kinds) await compare(place, kind, filesOf(kind))
  rmSync(place, { recursive: true })
}

async function serve(place: string): Promise<Exporter> {
  const child = spawn(process.execPath, [...HEAP, PROGRAM, 'serve', place], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout }))
    return { ...(JSON.parse(line) as { url: string; key: string }), process: child }
  throw new Error('the exporter ended before it was ready')
}

/**
 * First a tenth of the log, whose memory is measured: the additional memory for the whole log is the part that grows
 * with the rows.
 */
async function exported(exporter: Exporter, kind: string, file: string, isWatched: boolean): Promise<void> {
  const tenth = isWatched
    ? await download(exporter, kind, file, `&to_sequence=${Math.floor(PRICES / 10)}`)
    : null
  const whole = await download(exporter, kind, file, '')
  if (tenth === null) return
  const mib = (value: number) => `${value.toFixed(0)} MiB`
  console.log(
    `${kind}.${file.split('.').at(-1)}: ${mib(statSync(file).size / 2 ** 20)} file; exporter's memory ${mib(tenth)} at most for a tenth of the rows, ${mib(whole)} for all`,
  )
  // With fewer rows the process is not warm yet.
  if (PRICES >= 1_000_000 && whole > tenth + FLAT_MIB)
    faults.push(`memory is not flat: ${mib(whole)} for all rows, ${mib(tenth)} for a tenth`)
}

/** The peak memory of the exporting process meanwhile. */
async function download(
  { url, key, process: child }: Exporter,
  kind: string,
  file: string,
  more: string,
): Promise<number> {
  let most = 0
  const watching = setInterval(() => (most = Math.max(most, residentMib(child.pid as number))), SAMPLE_MS)
  try {
    const interval = kind === 'candles' ? '&interval=1m' : ''
    const answer = await fetch(
      `${url}/v1/export?kind=${kind}&format=${file.split('.').at(-1)}${interval}${more}`,
      {
        headers: { authorization: `Bearer ${key}` },
      },
    )
    if (!answer.ok || answer.body === null)
      throw new Error(`${kind}: ${answer.status} ${await answer.text()}`)
    await pipeline(Readable.fromWeb(answer.body), createWriteStream(file))
  } finally {
    clearInterval(watching)
  }
  return most
}

/** The log goes directly from the store to Python: no part of the export code is involved. */
async function compare(place: string, kind: string, files: readonly string[]): Promise<void> {
  const log = spawn(process.execPath, [PROGRAM, 'log', place], { stdio: ['ignore', 'pipe', 'inherit'] })
  const python = spawn('python3', [join(ROOT, 'trials/files/compare.py'), kind, ...files], {
    env: { ...process.env, PYTHONPATH: READERS },
    stdio: [log.stdout, 'inherit', 'inherit'],
  })
  const [code] = (await once(python, 'exit')) as [number | null]
  // Python may have ended at the first difference, with the rest of the log unread.
  log.kill()
  if (code !== 0) throw new Error(`${kind} differs from the log, or could not be read`)
}

/** Prints one clear line when they are not available. */
function bringReaders(): void {
  if (existsSync(join(READERS, 'duckdb')) && existsSync(join(READERS, 'chdb'))) return
  const words = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--target',
    READERS,
    ...PACKAGES,
  ]
  const { status } = spawnSync('python3', words, { stdio: ['ignore', 'ignore', 'ignore'] })
  if (status === 0) return
  console.error(
    `test:files: python3 with ${PACKAGES.join(' and ')} cannot be had here (pip from PyPI), so nothing was tested`,
  )
  process.exit(1)
}
