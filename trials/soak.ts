/**
 * `npm run soak -- --minutes N`: the local world with the service on it, as `npm start` runs them, checked from
 * outside every few seconds. Fails unless memory stays flat, every chain remains priced, none falls into a GAP, the
 * service stops on request, and its database is sound afterwards. Prints one line per minute, and what a day of the
 * world would take on disk.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { type Client, createClient } from '../packages/sdk/index.ts'
import { loadConfig } from '../packages/server/commands/config.ts'
import { checkDatabase } from '../packages/server/commands/database.ts'
import { residentMib } from './residentMib.ts'
import { commandLine, misused } from './commandLine.ts'

const LOOK_MS = 5000
const LINE_MS = 60_000
const START_MS = 180_000
const STOP_MS = 60_000
const DAY_MS = 86_400_000
/** The tables and indexes that grew most. */
const TABLES_SHOWN = 8
/**
 * The growth allowed at the end over the second quarter, when everything has been used once: garbage collection is
 * not exact.
 */
const GROWTH = { share: 0.25, mib: 48 } as const

type ChainSight = {
  readonly chainId: number
  readonly status: string
  readonly reasons: string
  readonly lagMs: number
  readonly priced: number
  readonly evaluatedMs: number
}
type Sight = {
  readonly serviceMib: number
  readonly nodesMib: number
  readonly chains: readonly ChainSight[]
}
/** Bytes of the database in use, by table and index, at a moment of the monotonic clock. */
type Stored = { readonly atMs: number; readonly bytes: ReadonlyMap<string, number> }

const USAGE = 'npm run soak -- [--minutes N] [--port N]'
const { values } = commandLine(USAGE, {
  options: { minutes: { type: 'string', default: '15' }, port: { type: 'string', default: '18080' } },
})
const minutes = Number(values.minutes)
if (!(minutes > 0)) misused(USAGE, `--minutes is ${values.minutes}; expected a number above 0`)
const folder = mkdtempSync(join(tmpdir(), 'assay-soak-'))
const child = spawn(
  process.execPath,
  ['packages/cli/bin.js', 'start', '--data', folder, '--port', values.port],
  { stdio: ['ignore', 'ignore', 'inherit'] },
)
const faults: string[] = []
try {
  const client = await connected(child)
  const before = storedIn(folder)
  const sights = await watch(child, client)
  faults.push(...judged(sights))
  for (const line of grownLines(before, storedIn(folder))) console.log(line)
} finally {
  if (!(await stopped(child))) faults.push(`it did not stop within ${STOP_MS / 1000} s`)
}
const {
  records,
  head,
  pools,
  tokens,
  faults: unsound,
} = await checkDatabase(loadConfig(join(folder, 'assay.yaml'), {}))
console.log(
  `database: ${records} records up to ${head}, ${pools} pools, ${tokens} tokens, ${unsound.length} faults`,
)
faults.push(...unsound.map(text => `database: ${text}`))
for (const fault of faults) console.log(`fault: ${fault}`)
console.log(faults.length === 0 ? `Sound after ${minutes} minutes.` : `${faults.length} faults.`)
if (faults.length === 0) rmSync(folder, { recursive: true })
else console.log(`What is left of it: ${folder}`)
process.exitCode = faults.length === 0 ? 0 : 1

/** Resolves once every chain has a price. */
async function connected(service: ChildProcess): Promise<Client> {
  const untilMs = performance.now() + START_MS
  const key = join(folder, 'key')
  let last: unknown = null
  for (; performance.now() < untilMs; await pause(LOOK_MS)) {
    if (service.exitCode !== null) throw new Error(`it ended with ${service.exitCode} while starting`)
    if (!existsSync(key)) continue
    const client = createClient({
      baseUrl: `http://127.0.0.1:${values.port}`,
      apiKey: readFileSync(key, 'utf8').trim(),
    })
    try {
      if ((await sightOf(service, client)).chains.every(({ priced }) => priced > 0)) return client
    } catch (failure) {
      // Some parts are not up yet.
      last = failure
    }
  }
  throw new Error(`not every chain had a price after ${START_MS / 1000} s`, { cause: last })
}

async function watch(service: ChildProcess, client: Client): Promise<readonly Sight[]> {
  const sights: Sight[] = []
  const startedMs = performance.now()
  let toldMs = Number.NEGATIVE_INFINITY
  for (let nowMs = startedMs; nowMs - startedMs < minutes * 60_000; nowMs = performance.now()) {
    const sight = await sightOf(service, client)
    sights.push(sight)
    if (nowMs - toldMs >= LINE_MS) {
      toldMs = nowMs
      console.log(lineOf((nowMs - startedMs) / 60_000, sight))
    }
    await pause(LOOK_MS)
  }
  console.log(lineOf(minutes, sights.at(-1) as Sight))
  return sights
}

async function sightOf(service: ChildProcess, client: Client): Promise<Sight> {
  const { chains } = await client.fetchChains()
  const seen = await Promise.all(
    chains.map(async ({ chain_id }): Promise<ChainSight> => {
      const [health, { tokens }] = await Promise.all([
        client.fetchHealth({ chain_id }),
        client.fetchTokens({ chain_id, limit: 1000 }),
      ])
      return {
        chainId: chain_id,
        status: health.status,
        reasons: health.reasons.join(),
        lagMs: health.lag_ms ?? 0,
        priced: tokens.filter(({ role, state }) => role === 'TOKEN' && state === 'PRICED').length,
        evaluatedMs: Math.max(0, ...tokens.map(({ price }) => price?.evaluated_at_ms ?? 0)),
      }
    }),
  )
  const pid = service.pid as number
  return {
    serviceMib: residentMib(pid),
    nodesMib: childrenOf(pid).reduce((sum, each) => sum + residentMib(each), 0),
    chains: seen,
  }
}

/** Read beside the service, as of its last commit. */
function storedIn(dataFolder: string): Stored {
  const database = new DatabaseSync(join(dataFolder, 'assay.db'), { readOnly: true })
  try {
    const rows = database.prepare('SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name').all()
    const bytes = new Map(rows.map(({ name, bytes: size }) => [String(name), Number(size)]))
    return { atMs: performance.now(), bytes }
  } finally {
    database.close()
  }
}

/** A day at the rate of the run; the write-ahead log and free pages are not counted. */
function grownLines(before: Stored, after: Stored): readonly string[] {
  const days = (after.atMs - before.atMs) / DAY_MS
  const perDay = (bytes: number) => `${(bytes / days / 1e9).toFixed(2)} GB a day`
  const grown = [...after.bytes].map(([name, bytes]) => ({
    name,
    bytes: bytes - (before.bytes.get(name) ?? 0),
  }))
  const total = grown.reduce((sum, { bytes }) => sum + bytes, 0)
  return [
    `database grew by ${(total / 1e6).toFixed(1)} MB in ${minutes} minutes: ${perDay(total)}`,
    ...grown
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, TABLES_SHOWN)
      .map(({ name, bytes }) => `  ${name}: ${(bytes / 1e6).toFixed(1)} MB, ${perDay(bytes)}`),
  ]
}

function judged(sights: readonly Sight[]): string[] {
  const found: string[] = []
  for (const { chainId } of sights[0]?.chains ?? []) {
    const own = sights.flatMap(({ chains }) => chains.filter(each => each.chainId === chainId))
    const gaps = own.filter(({ status }) => status === 'GAP' || status === 'UNAVAILABLE')
    if (gaps.length > 0)
      found.push(
        `chain ${chainId} was ${gaps[0]?.status} (${gaps[0]?.reasons}) in ${gaps.length} of ${own.length} looks`,
      )
    const unpriced = own.filter(({ priced }) => priced === 0).length
    if (unpriced > 0) found.push(`chain ${chainId} had no price in ${unpriced} of ${own.length} looks`)
    const half = own[own.length >> 1]
    if (own.at(-1)?.evaluatedMs === half?.evaluatedMs)
      found.push(`chain ${chainId} published nothing in the second half`)
  }
  for (const name of ['serviceMib', 'nodesMib'] as const) {
    const quarter = sights.length / 4
    const settled = median(
      sights.slice(Math.floor(quarter), Math.floor(2 * quarter)).map(sight => sight[name]),
    )
    const last = median(sights.slice(Math.floor(3 * quarter)).map(sight => sight[name]))
    console.log(
      `${name === 'serviceMib' ? 'service' : 'nodes'}: ${settled.toFixed(0)} MiB in the second quarter, ${last.toFixed(0)} MiB in the last`,
    )
    if (last > settled * (1 + GROWTH.share) + GROWTH.mib)
      found.push(`memory is not flat: ${name} went from ${settled.toFixed(0)} to ${last.toFixed(0)}`)
  }
  return found
}

function lineOf(minute: number, { serviceMib, nodesMib, chains }: Sight): string {
  const each = chains.map(
    ({ chainId, status, lagMs, priced }) => `${chainId} ${status} ${lagMs} ms behind, ${priced} priced`,
  )
  return `${minute.toFixed(1).padStart(5)} min  service ${serviceMib.toFixed(0)} MiB  nodes ${nodesMib.toFixed(0)} MiB  load ${(loadavg()[0] ?? 0).toFixed(1)}  ${each.join('; ')}`
}

/** It ended on its own, with code 0. */
async function stopped(service: ChildProcess): Promise<boolean> {
  if (service.exitCode !== null) return false
  const exit = once(service, 'exit')
  service.kill('SIGINT')
  const isOver = await Promise.race([exit.then(() => true), pause(STOP_MS, false)])
  if (!isOver) service.kill('SIGKILL')
  return isOver && service.exitCode === 0
}

/** The children of every thread of a process. */
function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap(thread =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
      .split(' ')
      .filter(each => each !== '')
      .map(Number),
  )
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
}
