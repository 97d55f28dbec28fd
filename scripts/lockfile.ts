/**
 * Queries on package-lock.json: dependencies between packages, test-only packages, and packages installed on this
 * machine.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

type Names = Readonly<Record<string, string>>

export type Locked = {
  readonly name?: string
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly optional?: boolean
  readonly resolved?: string
  readonly os?: readonly string[] | string
  readonly cpu?: readonly string[] | string
  readonly libc?: readonly string[]
  readonly engines?: Names
  readonly dependencies?: Names
  readonly devDependencies?: Names
  readonly optionalDependencies?: Names
  readonly peerDependencies?: Names
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** By path: '' is the root, `packages/server` a workspace, `node_modules/ws` a third-party package. */
export const locked: Readonly<Record<string, Locked>> = (
  JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }
).packages

export const isOurs = (path: string): boolean => !path.includes('node_modules/')

/** Paths of every third-party package, once for each place where it is installed. */
export const foreign: readonly string[] = Object.keys(locked).filter(
  path => !isOurs(path) && locked[path]?.link !== true,
)

/** Its name, which differs from the name in its path when another package replaces it. */
export const nameOf = (path: string): string =>
  locked[path]?.name ?? (path.split('node_modules/').at(-1) as string)

const PLATFORM =
  /(?<=[-/])(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|wasm32|win32)-.+$/

/**
 * Its name without the platform: `@rolldown/binding-linux-x64-gnu` and its siblings are `@rolldown/binding-*`. They
 * count as one, because they are one program.
 */
export const familyOf = (name: string): string => name.replace(PLATFORM, '*')

export const idOf = (path: string): string => `${nameOf(path)}@${locked[path]?.version}`

/** Node's resolution: in the folder itself, then in its parents. Null for a package of another platform. */
export function resolve(from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (locked[path] !== undefined) return path
    if (folder === '') return null
  }
}

/** The package with all its dependencies, itself first. */
export function closureOf(path: string): readonly string[] {
  const found = new Set([path])
  for (const each of found) {
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = locked[
      each
    ] as Locked
    const peers = Object.keys(peerDependencies ?? {}).filter(
      name => peerDependenciesMeta?.[name]?.optional !== true,
    )
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const next = resolve(each, name)
      if (next !== null) found.add(next)
    }
  }
  return [...found]
}

/** Bytes on this disk, without the packages inside it; 0 when it is not installed. */
export function sizeOf(path: string): number {
  if (!existsSync(path)) return 0
  let bytes = 0
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue
    const inner = join(path, entry.name)
    if (entry.isDirectory()) bytes += sizeOf(inner)
    else if (entry.isFile()) bytes += statSync(inner).size
  }
  return bytes
}

/** The scripts npm would run on install, according to the package itself; empty when it is not installed. */
export function installScripts(path: string): readonly string[] {
  const file = join(path, 'package.json')
  if (!existsSync(file)) return []
  const { scripts = {} } = JSON.parse(readFileSync(file, 'utf8')) as { scripts?: Names }
  const named = ['preinstall', 'install', 'postinstall'].flatMap(name => scripts[name] ?? [])
  // Without a script of its own, npm builds a package with this file.
  return existsSync(join(path, 'binding.gyp')) && named.length === 0 ? ['node-gyp rebuild'] : named
}
