/**
 * `npm run lockfile`: adds the optional packages of other platforms that package-lock.json lacks. npm omits those its
 * registry does not have, and `npm ci` of npm 11 then refuses the file on every machine.
 *
 * The version of an entry comes from the parent that requires it, the platform from the name, and the licence from a
 * sibling for another platform, which is published with it. The entry has no hash: npm adds one when the registry has
 * the archive.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { familyOf, type Locked, locked, nameOf, resolve } from './lockfile.ts'

const FILE = 'package-lock.json'

/** Processor names used by packages, where npm's differ. */
const PROCESSORS: Readonly<Record<string, string>> = { amd64: 'x64' }

const PLATFORM =
  /[-/](?<os>aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)-(?<cpu>[a-z0-9]+)(-(?<abi>[a-z]+))?$/

export type Missing = { readonly path: string; readonly name: string; readonly parent: string }

/** Optional packages that some package requires and that have no entry, each once. */
export function missingOptionals(): readonly Missing[] {
  const found = Object.entries(locked).flatMap(([parent, { optionalDependencies }]) =>
    Object.keys(optionalDependencies ?? {})
      .filter(name => resolve(parent, name) === null)
      .map(name => ({ path: `node_modules/${name}`, name, parent })),
  )
  return [...new Map(found.map(each => [each.path, each])).values()]
}

export type Platform = { readonly os: string[]; readonly cpu: string[]; readonly libc?: string[] }

/** The platform of a package, from its name. Throws when the name does not contain it. */
export function platformOf(name: string): Platform {
  const { os, cpu, abi } = PLATFORM.exec(name)?.groups ?? {}
  if (os === undefined || cpu === undefined)
    throw new Error(`${name} is not in ${FILE}, and its name says no platform: add its entry by hand`)
  const libc = abi === 'gnu' ? 'glibc' : abi === 'musl' ? 'musl' : null
  return { os: [os], cpu: [PROCESSORS[cpu] ?? cpu], ...(libc === null ? {} : { libc: [libc] }) }
}

/** Its keys are in npm's order, so that npm leaves the entry unchanged. */
function entryOf({ name, parent }: Missing): Locked {
  const { optionalDependencies, dev } = locked[parent] as Locked
  const version = optionalDependencies?.[name] ?? ''
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    throw new Error(
      `${parent} asks for ${name} ${version}, which is no single version: add its entry by hand`,
    )
  const { os, cpu, libc } = platformOf(name)
  const sibling = siblingOf(name, version)
  return {
    version,
    cpu,
    ...(dev === true ? { dev } : {}),
    ...(libc === undefined ? {} : { libc }),
    ...(sibling?.license === undefined ? {} : { license: sibling.license }),
    optional: true,
    os,
    ...(sibling?.engines === undefined ? {} : { engines: sibling.engines }),
  }
}

/** The same package for another platform. */
const siblingOf = (name: string, version: string): Locked | undefined =>
  Object.entries(locked).find(
    ([path, each]) => each.version === version && familyOf(nameOf(path)) === familyOf(name),
  )?.[1]

function completed(file: { readonly packages: object }, missing: readonly Missing[]): object {
  const added = missing.map(each => [each.path, entryOf(each)] as const)
  const packages = [...Object.entries(file.packages), ...added].sort(([a], [b]) => a.localeCompare(b, 'en'))
  return { ...file, packages: Object.fromEntries(packages) }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const missing = missingOptionals()
  const file = JSON.parse(readFileSync(FILE, 'utf8')) as { packages: object }
  if (missing.length > 0) writeFileSync(FILE, `${JSON.stringify(completed(file, missing), null, 2)}\n`)
  console.log(`${FILE}: ${missing.length} optional packages of other platforms added`)
}
