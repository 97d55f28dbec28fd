/** The packages for people who run Assay, and the contents of each. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')

export type Published = {
  readonly name: string
  readonly description: string
  /** Includes the local world, its nodes and their contracts. */
  readonly hasWorld: boolean
}

export const PUBLISHED: readonly Published[] = [
  {
    name: 'assay',
    description:
      'Self-hosted USD prices of long-tail EVM tokens with their evidence, and a local world to try it in',
    hasWorld: true,
  },
  {
    name: 'assay-server',
    description: 'Self-hosted USD prices of long-tail EVM tokens with their evidence: the service alone',
    hasWorld: false,
  },
]

type Manifest = {
  readonly version: string
  readonly license: string
  readonly exports?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest

/** The module behind each name with which our packages import one another. */
export function moduleNames(): Map<string, string> {
  return new Map(
    ['engine', 'sdk', 'server', 'world', 'console'].flatMap(name =>
      Object.entries(manifestOf(`packages/${name}`).exports ?? {}).map(([path, file]) => [
        `@assay/${name}${path.slice(1)}`,
        join(ROOT, 'packages', name, file),
      ]),
    ),
  )
}

export function packageManifest({ name, description, hasWorld }: Published): object {
  const folders = ['engine', 'sdk', 'server', 'cli', ...(hasWorld ? ['world'] : [])]
  const dependencies = Object.assign({}, ...folders.map(each => manifestOf(`packages/${each}`).dependencies))
  const optional = Object.assign(
    {},
    manifestOf('.').optionalDependencies,
    hasWorld ? manifestOf('packages/world').optionalDependencies : {},
  )
  const ours = ([each]: [string, unknown]): boolean => !each.startsWith('@assay/')
  const { version, license } = manifestOf('.')
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    bin: { assay: 'cli/bin.js' },
    engines: { node: '>=20' },
    dependencies: Object.fromEntries(Object.entries(dependencies).filter(ours)),
    // Node itself, and PostgreSQL for tests, are optional here: customers need only the first.
    optionalDependencies: optional,
  }
}
