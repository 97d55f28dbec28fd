/** The tables of docs/DEPENDENCIES.md: facts from the lockfile and from what is installed, reasons from those written by hand. */
import { READ_SCRIPTS, REASONS } from './dependencyReasons.ts'
import {
  closureOf,
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
  readonly name: string
  readonly path: string
  /** Our packages that ask for it. */
  readonly users: readonly string[]
  readonly isForTests: boolean
}

/** Every package of others that one of ours asks for, by name. */
export function directDependencies(): readonly Direct[] {
  const found = new Map<string, { path: string; users: Set<string>; isForTests: boolean }>()
  for (const [from, entry] of Object.entries(locked).filter(([path]) => isOurs(path))) {
    const user = from === '' ? 'assay' : (from.split('/').at(-1) as string)
    const note = (name: string, isForTests: boolean) => {
      const path = resolve(from, name)
      if (name.startsWith('@assay/') || path === null) return
      const known = found.get(name) ?? { path, users: new Set(), isForTests: true }
      known.users.add(user)
      found.set(name, { ...known, path, isForTests: known.isForTests && isForTests })
    }
    for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }))
      note(name, false)
    for (const name of Object.keys(entry.devDependencies ?? {})) note(name, true)
  }
  return [...found]
    .map(([name, each]) => ({ name, ...each, users: [...each.users].sort() }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Those that have a script at install, by the lockfile or, where they are installed, by themselves. */
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

function rowOf({ name, path, users }: Direct, scripted: ReadonlySet<string>): string {
  const closure = closureOf(path)
  const cells = [
    `\`${name}\` ${locked[path]?.version}`,
    locked[path]?.license ?? '?',
    users.join(', '),
    closure.some(each => scripted.has(each)) ? 'yes, see below' : 'no',
    `${closure.length - 1}`,
    megabytes(closure),
    REASONS[name] ?? '?',
  ]
  return `| ${cells.join(' | ')} |`
}

/** A binary is as large as its platform makes it: those are not told to the tenth. */
function megabytes(closure: readonly string[]): string {
  const isWhole = closure.every(path => locked[path]?.os === undefined)
  const size = closure.reduce((sum, path) => sum + sizeOf(path), 0) / 1e6
  if (size === 0) return 'not here'
  return isWhole ? size.toFixed(1) : `about ${size < 10 ? Math.round(size) : Math.round(size / 10) * 10}`
}

/** Of everything that is needed at run time. */
function licences(): string {
  const counts = new Map<string, string[]>()
  for (const path of foreign.filter(each => locked[each]?.dev !== true)) {
    const licence = locked[path]?.license ?? '?'
    counts.set(licence, [...(counts.get(licence) ?? []), nameOf(path)])
  }
  const rows = [...counts].sort(([, a], [, b]) => b.length - a.length)
  const few = (names: readonly string[]) =>
    names.length <= 5 ? `: ${[...new Set(names)].sort().join(', ')}` : ''
  return rows.map(([licence, names]) => `- ${licence} × ${names.length}${few(names)}`).join('\n')
}
