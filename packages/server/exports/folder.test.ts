/**
 * A folder of export files against one export of the same records: joined row by row, killed at random points of the
 * writing, followed while the log grows, and refused where it would miss records or mix two logs.
 */
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endSessions, open, PLACES, run } from '../../cli/testing/session.ts'
import { freePort } from '../service/testing/childService.ts'
import { openTestApi, type TestApi } from '../service/testing/testApi.ts'
import { until } from '../service/testing/until.ts'
import { unsealed } from '../store/envelope.ts'
import { address, poolFacts, swap } from '../store/testing/drafts.ts'
import { generator } from '../store/testing/generator.ts'
import { CHAIN, marketCommit, TOKEN } from '../webhooks/testing/script.ts'

const STEPS = 240
const STEP_MS = 7000
/** The begin of a minute. */
const BEGIN_MS = 1_763_000_040_000
const BIN = resolve(import.meta.dirname, '../../cli/bin.js')
const root = mkdtempSync(join(tmpdir(), 'assay-folder-'))
const pool = poolFacts('pool', TOKEN, address('usd'))

type Service = { readonly api: TestApi; readonly env: Record<string, string> }
const services: Service[] = []
afterAll(endSessions)
afterAll(async () => {
  for (const { api } of services) await api.close()
  rmSync(root, { recursive: true })
})

/** A log of its own; the same steps at the same times are the same records. */
async function serviceOf(steps: number, beginMs = BEGIN_MS): Promise<Service> {
  const api = await openTestApi()
  const service = { api, env: { ASSAY_URL: api.url, ASSAY_KEY: await api.key() } }
  services.push(service)
  for (let step = 1; step <= steps; step++) await commit(service, step, beginMs)
  return service
}

async function commit({ api }: Service, step: number, beginMs = BEGIN_MS): Promise<void> {
  const made = marketCommit(step)
  const swaps = Array.from({ length: step % 4 }, (_, at) => unsealed(swap(CHAIN, pool, at)))
  await api.store.commit({ ...made, records: [...made.records, ...swaps], atMs: beginMs + step * STEP_MS })
}

const exported = ({ env }: Service, ...args: readonly string[]) =>
  run('a pipe', ['export', ...args, '--every', '1m'], { env, cwd: root })

const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder)).filter(name => /\.(csv|ndjson|parquet)$/.test(name))

const lastIn = (folder: string): number => Number(/-(\d{16})\./.exec(filesIn(folder).at(-1) ?? '')?.[1])

async function rowsIn(path: string): Promise<unknown[]> {
  if (path.endsWith('.parquet')) return parquetReadObjects({ file: await asyncBufferFromFile(path) })
  const lines = readFileSync(path, 'utf8')
    .split(/\r?\n/)
    .filter(line => line !== '')
  return path.endsWith('.csv') ? lines.slice(1) : lines
}

/** The rows of all files, in the order of their names, which is that of a shell and of DuckDB. */
async function joined(folder: string): Promise<unknown[]> {
  const rows: unknown[] = []
  for (const name of filesIn(folder)) rows.push(...(await rowsIn(join(root, folder, name))))
  return rows
}

async function inOnePiece(
  { api, env }: Service,
  kind: string,
  format: string,
  to: number,
): Promise<unknown[]> {
  const answer = await fetch(`${api.url}/v1/export?kind=${kind}&format=${format}&to_sequence=${to}`, {
    headers: { authorization: `Bearer ${env['ASSAY_KEY']}` },
  })
  const path = join(root, `whole.${format}`)
  writeFileSync(path, Buffer.from(await answer.arrayBuffer()))
  return rowsIn(path)
}

let service: Service
beforeAll(async () => {
  service = await serviceOf(STEPS)
})

it.each([
  ['prices', 'parquet', []],
  ['events', 'csv', ['--chain', '1']],
  ['retractions', 'ndjson', []],
] as const)('%s: the files of a folder, joined, are the rows of one export', async (kind, format, more) => {
  const folder = `joined-${kind}`
  const done = await exported(service, kind, '--folder', folder, '--format', format, ...more)
  expect([done.code, done.errors]).toEqual([0, ''])
  const names = filesIn(folder)
  expect(names.length).toBe(Math.floor((STEPS * STEP_MS) / 60_000))
  const chain = more.length === 0 ? '' : '-chain1'
  expect(names[0]).toMatch(new RegExp(`^${kind}${chain}-0000000000000001-\\d{16}\\.${format}$`))
  const rows = await joined(folder)
  expect(rows).toEqual(await inOnePiece(service, kind, format, lastIn(folder)))
  expect(rows.length).toBeGreaterThan(30)
  const times = rows.length === 0 ? [] : await service.api.store.readLog(lastIn(folder) - 1, 2, null)
  expect(times.map(({ timeMs }) => Math.floor(timeMs / 60_000))).toEqual([
    Math.floor((BEGIN_MS + STEPS * STEP_MS) / 60_000) - 1,
    Math.floor((BEGIN_MS + STEPS * STEP_MS) / 60_000),
  ])
  const again = await exported(service, kind, '--folder', folder, '--format', format, ...more)
  expect([again.code, filesIn(folder)]).toEqual([0, names])
})

const leftOvers = (folder: string): string[] =>
  readdirSync(join(root, folder)).filter(name => name.endsWith('.part'))

function startExport(folder: string, { env } = service, url = env['ASSAY_URL']): ChildProcess {
  return spawn(process.execPath, [BIN, 'export', 'prices', '--folder', folder, '--every', '1m', '--json'], {
    cwd: root,
    env: { ...process.env, ...env, ASSAY_URL: url },
    stdio: 'ignore',
  })
}

/** Killed at an event of its folder: each file causes several, when it is begun, written and named. */
async function killAtEvent(folder: string, event: number): Promise<boolean> {
  const child = startExport(folder)
  let left = event
  const watcher = watch(join(root, folder), () => {
    if (--left === 0) child.kill('SIGKILL')
  })
  const isKilled = await killed(child)
  watcher.close()
  return isKilled
}

/** Of the file that begins with this record, whatever it is called meanwhile; null without it. */
function bytesFrom(folder: string, first: number): number | null {
  const start = `prices-${String(first).padStart(16, '0')}-`
  const name = readdirSync(join(root, folder)).find(each => each.startsWith(start))
  return name === undefined ? null : statSync(join(root, folder, name)).size
}

/** Killed when so many bytes of files have come and the last of them have been written, the rest being held back. */
async function killAtByte(folder: string, byte: number): Promise<boolean> {
  let left = byte
  let child: ChildProcess | null = null
  const serve = async ({ url = '', headers }: IncomingMessage, reply: ServerResponse) => {
    const answer = await fetch(`${service.api.url}${url}`, {
      headers: { authorization: headers.authorization ?? '' },
    })
    const body = Buffer.from(await answer.arrayBuffer())
    reply.writeHead(answer.status, { ...Object.fromEntries(answer.headers), connection: 'close' })
    if (left >= body.length) {
      left -= body.length
      reply.end(body)
      return
    }
    reply.flushHeaders()
    reply.write(body.subarray(0, left))
    const first = Number(answer.headers.get('assay-after-sequence')) + 1
    await until('the bytes in a file', () => bytesFrom(folder, first) === left)
    child?.kill('SIGKILL')
    reply.destroy()
  }
  const slow = createServer((request, reply) => void serve(request, reply))
  await once(slow.listen(0, '127.0.0.1'), 'listening')
  child = startExport(folder, service, `http://127.0.0.1:${(slow.address() as AddressInfo).port}`)
  const isKilled = await killed(child)
  slow.close()
  return isKilled
}

/** False: it ended before. */
async function killed(child: ChildProcess): Promise<boolean> {
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (signal === null) expect(code).toBe(0)
  return signal !== null
}

it.each([
  ['events of the folder', killAtEvent, 25],
  ['bytes of its files', killAtByte, 20_000],
] as const)('killed at random %s and run again, it writes what one run writes', async (_, kill, most) => {
  const next = generator(most)
  let folder = `killed-${most}`
  mkdirSync(join(root, folder))
  let partial = 0
  for (let kills = 0; kills < 10; ) {
    if (await kill(folder, 1 + (next() % most))) {
      kills++
      if (leftOvers(folder).length > 0) partial++
    } else {
      await expectWhole(folder)
      folder = `${folder}-`
      mkdirSync(join(root, folder))
    }
  }
  expect(partial).toBeGreaterThan(0)
  const done = await exported(service, 'prices', '--folder', folder)
  expect([done.code, done.errors]).toEqual([0, ''])
  await expectWhole(folder)
})

async function expectWhole(folder: string): Promise<void> {
  expect(leftOvers(folder)).toEqual([])
  expect(filesIn(folder)).toEqual(filesIn('joined-prices'))
  expect(await joined(folder)).toEqual(await inOnePiece(service, 'prices', 'parquet', lastIn(folder)))
}

it('two at once in a folder may hinder, but not harm each other', async () => {
  const names = filesIn('joined-prices')
  for (let round = 0; round < 3; round++) {
    const folder = `shared-${round}`
    const ended = await Promise.all([1, 2].map(() => exported(service, 'prices', '--folder', folder)))
    for (const { code, errors } of ended)
      if (code !== 0) expect(errors).toMatch(/one (export )?at a time|has changed meanwhile/)
    expect((await exported(service, 'prices', '--folder', folder)).code).toBe(0)
    expect(filesIn(folder)).toEqual(names)
    expect(await joined(folder)).toEqual(await joined('joined-prices'))
  }
})

describe.each(PLACES)('--follow on %s', place => {
  it('writes each bucket when it is closed, and ends well with Ctrl-C', async () => {
    const growing = await serviceOf(20)
    const folder = `followed-${place.length}`
    const args = ['export', 'prices', '--folder', folder, '--every', '1m', '--follow']
    const session = open(place, args, { env: growing.env, cwd: root, columns: 200 })
    await session.until(/^prices-0{15}1-\d{16}\.parquet: committed until .* UTC, \d+ bytes$/m)
    // On a terminal both streams are seen: there it is made to wait.
    if (place === 'a terminal')
      await session.until(/^waiting for a record after \d\d:\d\d:00 UTC, when the present file ends$/m)
    const before = filesIn(folder).length
    for (let step = 21; step <= 40; step++) await commit(growing, step)
    const [, bytes] = await session.until(/committed until 2025-11-13 02:17:5\d UTC, (\d+) bytes/)
    expect(Number(bytes)).toBeGreaterThan(1000)
    session.interrupt()
    const { code, text } = await session.ended
    expect([code, text]).toEqual([0, expect.stringMatching(/: records 1 to \d+\. Run it again to continue/)])
    expect(filesIn(folder).length).toBeGreaterThan(before)
    expect(await joined(folder)).toEqual(await inOnePiece(growing, 'prices', 'parquet', lastIn(folder)))
  })
})

it('--follow waits for a service that is away; without it, that is a failure', async () => {
  const env = { ASSAY_URL: `http://127.0.0.1:${await freePort()}` }
  const args = ['export', 'prices', '--folder', 'away']
  const failed = await run('a pipe', args, { env, cwd: root })
  expect([failed.code, failed.errors]).toEqual([4, expect.stringContaining('could not be reached')])
  const session = open('a terminal', [...args, '--follow'], { env, cwd: root, columns: 200 })
  await session.until(/could not be reached.*trying again in 5 s/)
  session.interrupt()
  expect((await session.ended).code).toBe(0)
})

it('--follow goes on through a spent quota, a service that is overloaded and an answer that is cut', async () => {
  const folder = 'troubled'
  const faults = [
    (reply: ServerResponse) => reply.writeHead(429, { 'retry-after': '0' }).end('{"error":"too many"}'),
    (reply: ServerResponse) => reply.writeHead(503, { 'retry-after': '0' }).end('{"error":"busy"}'),
    (reply: ServerResponse, body: Buffer) => {
      reply.write(body.subarray(0, 100), () => reply.destroy())
    },
  ]
  const serve = async ({ url = '', headers }: IncomingMessage, reply: ServerResponse) => {
    const answer = await fetch(`${service.api.url}${url}`, {
      headers: { authorization: headers.authorization ?? '' },
    })
    const body = Buffer.from(await answer.arrayBuffer())
    // The first file comes as it should.
    const fault = filesIn(folder).length === 0 ? undefined : faults.shift()
    for (const [name, value] of answer.headers) if (name.startsWith('assay-')) reply.setHeader(name, value)
    if (fault === undefined) reply.end(body)
    else fault(reply, body)
  }
  const troubled = createServer((request, reply) => void serve(request, reply))
  await once(troubled.listen(0, '127.0.0.1'), 'listening')
  const env = { ...service.env, ASSAY_URL: `http://127.0.0.1:${(troubled.address() as AddressInfo).port}` }
  const args = ['export', 'prices', '--folder', folder, '--every', '1m', '--follow']
  const session = open('a terminal', args, { env, cwd: root, columns: 200 })
  await session.until(/waiting for a record after/)
  session.interrupt()
  const { code, text } = await session.ended
  troubled.close()
  expect([code, faults.length]).toEqual([0, 0])
  for (const words of ['too many; trying', 'busy; trying', 'the export was cut after'])
    expect(text).toContain(words)
  await expectWhole(folder)
})

const refused = async (of: Service, args: readonly string[]) => {
  const { code, text, errors } = await exported(of, ...args)
  return [code, `${text}${errors}`]
}

it.each([
  [['prices', 'a.csv', '--folder', 'new'], 'name one of them'],
  [['prices'], '--every is of a folder'],
  [['candles', '--folder', 'new'], 'candles are not written to a folder'],
  [['prices', '--folder', 'new', '--to', '9'], '--to is of a file'],
  [['prices', '--folder', 'joined-prices', '--after', '9'], '--after is for a new folder'],
  [['events', '--folder', 'joined-prices'], 'which is not of this export (expected events-0000000000000001-'],
  [['prices', '--folder', 'joined-prices', '--chain', '1'], 'choose another folder'],
  [['prices', '--folder', 'joined-prices', '--format', 'csv'], 'choose another folder'],
])('%j is refused: %s', async (args, words) => {
  expect(await refused(service, args)).toEqual([2, expect.stringContaining(words)])
})

it('what stands where the folder should be, or in it, is left alone', async () => {
  writeFileSync(join(root, 'plain'), 'mine')
  expect(await refused(service, ['prices', '--folder', 'plain'])).toEqual([
    2,
    expect.stringContaining('plain is a file'),
  ])
  expect(await refused(service, ['prices', '--folder', 'plain/sub'])).toEqual([
    1,
    expect.stringContaining('check the owner of the folder'),
  ])
  mkdirSync(join(root, 'foreign'))
  for (const name of ['mine.parquet', 'mine.part']) writeFileSync(join(root, 'foreign', name), 'mine')
  expect(await refused(service, ['prices', '--folder', 'foreign'])).toEqual([
    2,
    expect.stringContaining('has mine.parquet, which is not of this export'),
  ])
  rmSync(join(root, 'foreign', 'mine.parquet'))
  expect((await exported(service, 'prices', '--folder', 'foreign')).code).toBe(0)
  expect(readFileSync(join(root, 'foreign', 'mine.part'), 'utf8')).toBe('mine')
})

it('a folder with a file missing between others is refused, until it is back', async () => {
  await exported(service, 'prices', '--folder', 'holes')
  const [, second = ''] = filesIn('holes')
  const [there, away] = [join(root, 'holes', second), join(root, second)]
  renameSync(there, away)
  expect(await refused(service, ['prices', '--folder', 'holes'])).toEqual([
    2,
    expect.stringMatching(/ends at record \d+ and the next file begins at \d+\. Put the missing file back/),
  ])
  renameSync(away, there)
  expect((await exported(service, 'prices', '--folder', 'holes')).code).toBe(0)
})

it('a new folder begins after the record that --after names', async () => {
  expect((await exported(service, 'prices', '--folder', 'later', '--after', '100')).code).toBe(0)
  expect(filesIn('later')[0]).toMatch(/^prices-0000000000000101-/)
})

describe('another log', () => {
  it('is told by the commit time of the last record', async () => {
    await exported(service, 'prices', '--folder', 'other')
    const other = await serviceOf(STEPS + 20, BEGIN_MS + 1)
    expect(await refused(other, ['prices', '--folder', 'other'])).toEqual([
      2,
      expect.stringMatching(/has record \d+ of .* UTC, and the folder ends with .*: it is another log/),
    ])
  })

  it('is told by an end before that of the folder', async () => {
    await exported(service, 'prices', '--folder', 'longer')
    const shorter = await serviceOf(30)
    expect(await refused(shorter, ['prices', '--folder', 'longer'])).toEqual([
      2,
      expect.stringMatching(/ends at record \d+, and the folder at \d+: it is another log, or an older copy/),
    ])
  })

  it('is one that began a new epoch, even with the last record of the folder', async () => {
    const restored = await serviceOf(100)
    await exported(restored, 'prices', '--folder', 'before')
    const last = lastIn('before')
    await restored.api.store.startEpoch()
    for (let step = 101; step <= 130; step++) await commit(restored, step)
    expect(await refused(restored, ['prices', '--folder', 'before'])).toEqual([
      3,
      expect.stringMatching(
        new RegExp(`began epoch 1, .* before ends at record ${last} of epoch 0: .* --folder before-epoch1\n`),
      ),
    ])
    expect((await exported(restored, 'prices', '--folder', 'before-epoch1')).code).toBe(0)
    expect(filesIn('before-epoch1')[0]).toMatch(new RegExp(`^prices-000${2 ** 40 + 1}-`))
  })
})

it('where retention has deleted records after the last file, it tells which and how to go on', async () => {
  const pruned = await serviceOf(60)
  await exported(pruned, 'prices', '--folder', 'behind')
  const last = lastIn('behind')
  for (let step = 61; step <= 160; step++) await commit(pruned, step)
  const prune = (records: number) =>
    pruned.api.store.prune({ nowMs: Date.now(), hours: 0, records, batch: 7 })
  const { head } = await pruned.api.store.readBounds()
  await prune(head - last)
  expect((await pruned.api.store.readBounds()).oldest).toBe(last + 1)
  await exported(pruned, 'events', '--folder', 'fresh')
  expect(filesIn('fresh')[0]).toMatch(new RegExp(`^events-0*${last + 1}-`))
  await prune(head - last - 40)
  const { oldest } = await pruned.api.store.readBounds()
  expect(oldest).toBeGreaterThan(last + 1)
  expect(await refused(pruned, ['prices', '--folder', 'behind'])).toEqual([
    3,
    expect.stringContaining(
      `records ${last + 1} to ${oldest - 1} are missing: behind ends at ${last}, and the log now begins at ${oldest}. Begin a new folder: --folder behind-${oldest} --after ${oldest - 1}`,
    ),
  ])
  const anew = ['prices', '--folder', `behind-${oldest}`, '--after', String(oldest - 1)]
  expect((await exported(pruned, ...anew)).code).toBe(0)
})

it('the last record that retention deleted is no gap', async () => {
  const pruned = await serviceOf(60)
  await exported(pruned, 'prices', '--folder', 'exactly')
  const last = lastIn('exactly')
  for (let step = 61; step <= 100; step++) await commit(pruned, step)
  const whole = await inOnePiece(pruned, 'prices', 'parquet', Number.MAX_SAFE_INTEGER)
  const { head } = await pruned.api.store.readBounds()
  await pruned.api.store.prune({ nowMs: Date.now(), hours: 0, records: head - last, batch: 7 })
  const done = await exported(pruned, 'prices', '--folder', 'exactly')
  expect([done.code, done.errors]).toEqual([0, ''])
  const rows = await joined('exactly')
  expect(rows).toEqual(whole.slice(0, rows.length))
  expect(lastIn('exactly')).toBeGreaterThan(last)
})
