/**
 * `npm run sbom`: what the service runs on, as CycloneDX, into sbom.cdx.json. npm lists the packages. Which of them are only for
 * tests the lockfile says: npm's own `--omit dev` also leaves out what some workspace needs at run time and another for tests.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { foreign, idOf, locked } from './lockfile.ts'

const FILE = 'sbom.cdx.json'
/** A list of some hundred packages. */
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

/** Of every package that is needed at run time, where it stands; our own aside. */
export const runtimePackages = (): ReadonlyMap<string, string> =>
  new Map(foreign.filter(path => locked[path]?.dev !== true).map(path => [idOf(path), path]))

export function makeBom(): Bom {
  const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
    encoding: 'utf8',
    maxBuffer: MAX_BYTES,
    // What npm says of the machine's own settings is no fault of ours.
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

/** npm calls our own packages by the folders they happen to stand in. */
const named = (component: Component): Component => ({
  ...component,
  name: component['bom-ref'].slice(0, component['bom-ref'].lastIndexOf('@')),
})

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const bom = makeBom()
  writeFileSync(FILE, `${JSON.stringify(bom, null, 2)}\n`)
  console.log(`${FILE}: ${bom.components.length} packages`)
}
