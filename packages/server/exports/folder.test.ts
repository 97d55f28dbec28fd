/**
 * A folder of export files against one export of the same records: joined row by row, killed at random points of the
 * writing, and followed while the log grows.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdirSync, readdirSync, statSync, watch } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endSessions, open, PLACES, run } from '../../cli/testing/session.ts'
import { freePort } from '../endToEnd/testing/childService.ts'
import { until } from '../endToEnd/testing/until.ts'
import { generator } from '../store/testing/generator.ts'
import { BEGIN_MS, commit, openFolders, type Service, STEP_MS } from './testing/folders.ts'

const STEPS = 240
const BIN = resolve(import.meta.dirname, '../../cli/bin.js')
const { root, serviceOf, exported, filesIn, lastIn, joined, inOnePiece, close } = openFolders()
afterAll(endSessions)
afterAll(close)

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
] as const)('killed at random %s and restarted, it writes what one run writes', async (_, kill, most) => {
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

it('two at once in a folder may hinder, but not damage each other', async () => {
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
  it('writes each bucket when it is closed, and exits cleanly on Ctrl-C', async () => {
    const growing = await serviceOf(20)
    const folder = `followed-${place.length}`
    const args = ['export', 'prices', '--folder', folder, '--every', '1m', '--follow']
    const session = open(place, args, { env: growing.env, cwd: root, columns: 200 })
    await session.until(/prices-0{15}1-\d{16}\.parquet: committed until .* UTC, \d+ bytes$/m)
    // On a terminal both streams are seen: there it is made to wait.
    if (place === 'a terminal')
      await session.until(/waiting for a record after \d\d:\d\d:00 UTC, when the present file ends$/m)
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

it('--follow waits for a service that is down; without it, that is a failure', async () => {
  const env = { ASSAY_URL: `http://127.0.0.1:${await freePort()}` }
  const args = ['export', 'prices', '--folder', 'away']
  const failed = await run('a pipe', args, { env, cwd: root })
  expect([failed.code, failed.errors]).toEqual([4, expect.stringContaining('could not be reached')])
  const session = open('a terminal', [...args, '--follow'], { env, cwd: root, columns: 200 })
  await session.until(/could not be reached.*trying again in 5 s/)
  session.interrupt()
  expect((await session.ended).code).toBe(0)
})

it('--follow continues after a spent quota, an overloaded service and a truncated response', async () => {
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
