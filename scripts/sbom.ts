/**
 * `npm run sbom`: the runtime dependencies of the service, as CycloneDX, in sbom.cdx.json. npm lists the packages.
 * The lockfile decides which of them are only for tests: npm's own `--omit dev` also omits packages that one
 * workspace needs at run time and another for tests.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { foreign, idOf, locked } from './lockfile.ts'

const FILE = 'sbom.cdx.json'
/** Enough for a list of several hundred packages. */
const MAX_BYTES = 64 * 1024 * 1024

export type Component = {
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses?: readonly object[]
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[]
}
export type Bom = {
  readonly bomFormat: string
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/** The path of every package needed at run time, without our own. */
export const runtimePackages = (): ReadonlyMap<string, string> =>
  new Map(foreign.filter(path => locked[path]?.dev !== true).map(path => [idOf(path), path]))

export function makeBom(): Bom {
  const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
    encoding: 'utf8',
    maxBuffer: MAX_BYTES,
    // npm's warnings about the machine's own settings are not our fault.
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const bom = JSON.parse(text) as Bom
  const needed = runtimePackages()
  const isKept = (ref: string): boolean => needed.has(ref) || /^(@assay\/|assay@)/.test(ref)
  return {
    ...bom,
    metadata: { ...bom.metadata, component: named(bom.metadata.component) },
    components: bom.components.filter(each => isKept(each['bom-ref'])).map(named),
    dependencies: bom.dependencies
      .filter(({ ref }) => isKept(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isKept) })),
  }
}

/** npm names our own packages after their folders. */
const named = (component: Component): Component => ({
  ...component,
  name: component['bom-ref'].slice(0, component['bom-ref'].lastIndexOf('@')),
})

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const bom = makeBom()
  writeFileSync(FILE, `${JSON.stringify(bom, null, 2)}\n`)
  console.log(`${FILE}: ${bom.components.length} packages`)
}
