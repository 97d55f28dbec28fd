/**
 * The code of a neighbouring version in a separate folder, ready to run. It must be that version's code alone: its
 * packages find each other in that folder, and only third-party packages are shared with this checkout, where the
 * lockfiles agree.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { schema } from '../../packages/server/store/postgres/schema.ts'

/** Used while nothing is tagged: about as many commits as a release contains. */
const FURTHEST = 50
const MIGRATIONS = 'packages/server/store/postgres/schema'
const OWN = '@assay'

export type Neighbour = {
  /** The full hash of its commit. */
  readonly commit: string
  /** A description for people. */
  readonly about: string
  readonly schemaVersion: number
}

/** The oldest program that still works with a database of this one. */
export const oldestSchema = (): number =>
  schema.reduce((oldest, { version, oldest: own = version }) => Math.max(oldest, own), 0)

/** The requested version, otherwise the last release, otherwise the oldest recent commit that qualifies. */
export function findNeighbour(asked: string | undefined): Neighbour {
  if (asked !== undefined) {
    if (known(asked) === null) throw new Error(`git knows no commit ${asked}`)
    return neighbourAt(asked, `as asked: ${asked}`)
  }
  if (known('HEAD^') === null) throw new Error('this needs the history of git, and there is none here')
  const tag = lastTag()
  if (tag !== null) return neighbourAt(tag, `the last release: ${tag}`)
  const commits = git('rev-list', '--first-parent', `--max-count=${FURTHEST + 1}`, 'HEAD')
    .split('\n')
    .slice(1)
  const back = commits.findLastIndex(commit => schemaVersionAt(commit) >= oldestSchema())
  const commit = commits[back]
  if (commit === undefined) throw new Error('no commit before this one shares its schema: name one by --from')
  return neighbourAt(commit, `nothing is tagged: ${back + 1} commits back`)
}

function neighbourAt(reference: string, why: string): Neighbour {
  const commit = known(reference) as string
  const about = `${commit.slice(0, 10)} of ${git('log', '-1', '--format=%cs', commit)} (${why})`
  return { commit, about, schemaVersion: schemaVersionAt(commit) }
}

/** Among the commits before this one: a release under test is not its own neighbour. */
const lastTag = (): string | null => attempted('describe', '--tags', '--abbrev=0', 'HEAD^')

const known = (reference: string): string | null =>
  attempted('rev-parse', '--verify', '--quiet', '--end-of-options', `${reference}^{commit}`)

function attempted(...args: readonly string[]): string | null {
  try {
    return git(...args)
  } catch {
    return null
  }
}

/** The number in the name of its last migration; 0 before the first. */
function schemaVersionAt(commit: string): number {
  const files = git('ls-tree', '--name-only', commit, `${MIGRATIONS}/`)
  return Math.max(0, ...[...files.matchAll(/\/(\d{4})-[^/]+$/gm)].map(([, version]) => Number(version)))
}

export type Tree = { readonly folder: string; readonly installed: string; remove(): void }

export function checkOut({ commit }: Neighbour): Tree {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assay-neighbour-')))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const archive = join(folder, 'archive.tar')
    execFileSync('git', ['archive', `--output=${archive}`, commit])
    execFileSync('tar', ['-xf', archive, '-C', folder])
    rmSync(archive)
    const isSame =
      readFileSync('package-lock.json', 'utf8') === readFileSync(join(folder, 'package-lock.json'), 'utf8')
    if (isSame) linkModules(folder)
    else
      execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
    assertAlone(folder)
    return {
      folder,
      installed: isSame
        ? 'the packages of this checkout, by the same lockfile'
        : 'packages of its own, by its lockfile',
      remove,
    }
  } catch (failure) {
    remove()
    throw failure
  }
}

/** One link per third-party package; its own packages are linked to itself. */
function linkModules(folder: string): void {
  const here = process.cwd()
  for (const place of ['', ...workspaces(folder).map(name => join('packages', name))]) {
    const from = join(here, place, 'node_modules')
    const names = namesIn(from)
    if (names.length === 0) continue
    mkdirSync(join(folder, place, 'node_modules'))
    for (const name of names)
      if (name !== OWN) symlinkSync(join(from, name), join(folder, place, 'node_modules', name))
  }
  mkdirSync(join(folder, 'node_modules', OWN))
  for (const name of workspaces(folder))
    symlinkSync(join(folder, 'packages', name), join(folder, 'node_modules', OWN, name))
}

const workspaces = (folder: string): string[] => readdirSync(join(folder, 'packages'))

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** One link too many, and both versions would be this one. */
function assertAlone(folder: string): void {
  const found = workspaces(folder).map(name => realpathSync(join(folder, 'node_modules', OWN, name)))
  const strayed = found.filter(path => !path.startsWith(`${folder}/`))
  if (strayed.length > 0) throw new Error(`code of another version would be run: ${strayed.join(', ')}`)
}

/** Its SDK, which a customer may keep using after the service was upgraded. */
export const sdkOf = (folder: string): Promise<typeof import('@assay/sdk')> =>
  import(pathToFileURL(join(folder, 'packages/sdk/index.ts')).href) as Promise<typeof import('@assay/sdk')>

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
