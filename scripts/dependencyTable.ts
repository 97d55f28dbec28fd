/**
 * The tables of docs/evidence/DEPENDENCIES.md: facts from the lockfile and the installed packages, reasons written by
 * hand.
 */
import { READ_SCRIPTS, REASONS } from './dependencyReasons.ts'
import {
  closureOf,
  familyOf,
  foreign,
  idOf,
  isOurs,
  installScripts,
  locked,
  nameOf,
  resolve,
  sizeOf,
} from './lockfile.ts'

export type Direct = {
  /** For a package that exists once per platform, the name of its family. */
  readonly name: string
  readonly paths: readonly string[]
  /** Our packages that require it. */
  readonly users: readonly string[]
  readonly isForTests: boolean
}

/** Every third-party package that one of ours requires, by name. */
export function directDependencies(): readonly Direct[] {
  const found = new Map<string, { paths: Set<string>; users: Set<string>; isForTests: boolean }>()
  for (const [from, entry] of Object.entries(locked).filter(([path]) => isOurs(path))) {
    const user = from === '' ? 'assay' : (from.split('/').at(-1) as string)
    const note = (asked: string, isForTests: boolean) => {
      const path = resolve(from, asked)
      if (asked.startsWith('@assay/') || path === null) return
      const name = familyOf(asked)
      const known = found.get(name) ?? { paths: new Set(), users: new Set(), isForTests: true }
      known.paths.add(path)
      known.users.add(user)
      found.set(name, { ...known, isForTests: known.isForTests && isForTests })
    }
    for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }))
      note(name, false)
    for (const name of Object.keys(entry.devDependencies ?? {})) note(name, true)
  }
  return [...found]
    .map(([name, each]) => ({ name, ...each, paths: [...each.paths], users: [...each.users].sort() }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Packages with an install script, according to the lockfile or, if installed, to the package itself. */
export const withScripts = (): readonly string[] =>
  foreign.filter(path => locked[path]?.hasInstallScript === true || installScripts(path).length > 0)

export function dependencyParts(): Readonly<Record<string, string>> {
  const all = directDependencies()
  const scripted = new Set(withScripts())
  return {
    runtime: tableOf(
      all.filter(({ isForTests }) => !isForTests),
      scripted,
    ),
    tests: tableOf(
      all.filter(({ isForTests }) => isForTests),
      scripted,
    ),
    scripts: [...scripted]
      .map(path => `- \`${idOf(path)}\`: ${READ_SCRIPTS[idOf(path)] ?? 'not read yet'}.`)
      .join('\n'),
    licences: licences(),
  }
}

const tableOf = (rows: readonly Direct[], scripted: ReadonlySet<string>): string =>
  [
    '| package | licence | used by | script at install | packages with it | MB with them | why |',
    '|---|---|---|---|---|---|---|',
    ...rows.map(row => rowOf(row, scripted)),
  ].join('\n')

function rowOf({ name, paths, users }: Direct, scripted: ReadonlySet<string>): string {
  const closure = onceEach(paths.flatMap(closureOf))
  const values = (what: 'version' | 'license') => [...new Set(paths.map(path => locked[path]?.[what] ?? '?'))]
  const cells = [
    `\`${name}\` ${values('version').join(', ')}`,
    values('license').join(', '),
    users.join(', '),
    closure.some(each => scripted.has(each)) ? 'yes, see below' : 'no',
    `${familiesOf(closure).size - 1}`,
    megabytes(closure),
    REASONS[name] ?? '?',
  ]
  return `| ${cells.join(' | ')} |`
}

/** For a version installed in several places, one place. */
const onceEach = (paths: readonly string[]): readonly string[] => [
  ...new Map(paths.map(path => [idOf(path), path])).values(),
]

const familiesOf = (paths: readonly string[]): ReadonlySet<string> =>
  new Set(paths.map(path => familyOf(idOf(path))))

/** The size of a binary depends on its platform, so it is shown without decimals. */
function megabytes(closure: readonly string[]): string {
  const isWhole = closure.every(path => locked[path]?.os === undefined)
  const size = closure.reduce((sum, path) => sum + sizeOf(path), 0) / 1e6
  if (size === 0) return 'not here'
  return isWhole ? size.toFixed(1) : `about ${size < 10 ? Math.round(size) : Math.round(size / 10) * 10}`
}

/** Licences of everything needed at run time. */
function licences(): string {
  const counts = new Map<string, string[]>()
  for (const path of foreign.filter(each => locked[each]?.dev !== true)) {
    const licence = locked[path]?.license ?? '?'
    counts.set(licence, [...(counts.get(licence) ?? []), path])
  }
  const rows = [...counts]
    .map(([licence, paths]) => ({
      licence,
      count: familiesOf(paths).size,
      names: [...new Set(paths.map(path => familyOf(nameOf(path))))].sort(),
    }))
    .sort((a, b) => b.count - a.count || (a.licence < b.licence ? -1 : 1))
  const few = (names: readonly string[]) => (names.length <= 5 ? `: ${names.join(', ')}` : '')
  return rows.map(({ licence, count, names }) => `- ${licence} × ${count}${few(names)}`).join('\n')
}
