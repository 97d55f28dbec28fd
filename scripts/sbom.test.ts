/** The list of parts that `npm run sbom` writes: whole, in its form, and without a word about the machine it was made on. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { beforeAll, expect, it } from 'vitest'
import { type Bom, runtimePackages } from './sbom.ts'

/** Its name alone may be part of a word. */
const LONG_ENOUGH = 5

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

let text: string
let bom: Bom
beforeAll(() => {
  execFileSync(process.execPath, ['scripts/sbom.ts'])
  text = readFileSync('sbom.cdx.json', 'utf8')
  bom = JSON.parse(text) as Bom
})

it('is CycloneDX of this project, and git does not keep it', () => {
  expect(bom.bomFormat).toBe('CycloneDX')
  expect(bom.metadata.component).toMatchObject({ name: 'assay', purl: `pkg:npm/assay@${version}` })
  execFileSync('git', ['check-ignore', '--quiet', 'sbom.cdx.json'])
})

it('has every package the service runs on, and none that only tests need', () => {
  const installed = [...runtimePackages()].filter(([, path]) => existsSync(path)).map(([name]) => name)
  const listed = bom.components.map(each => each['bom-ref']).filter(ref => !ref.startsWith('@assay/'))
  expect(listed.toSorted()).toEqual([...new Set(installed)].toSorted())
  const names = bom.components.map(({ name }) => name)
  // Needed by one workspace to run and by another for tests.
  expect(names).toEqual(expect.arrayContaining(['viem', 'ajv', 'yaml', 'fastify', '@assay/server']))
  for (const dev of ['vitest', 'fast-check', 'playwright-core', 'knip']) expect(names).not.toContain(dev)
})

it('has the licence, source and archive hash of each', () => {
  for (const { name, purl, licenses, hashes } of bom.components) {
    expect(purl, name).toMatch(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d/)
    expect(licenses?.length, name).toBeGreaterThan(0)
    // Ours are not fetched.
    if (!name.startsWith('@assay/')) expect(hashes?.[0]?.content, name).toMatch(/^[0-9a-f]{128}$/)
  }
})

it('every edge leads to a package of the list', () => {
  const known = new Set([`assay@${version}`, ...bom.components.map(each => each['bom-ref'])])
  expect(bom.dependencies.flatMap(({ dependsOn }) => dependsOn).filter(ref => !known.has(ref))).toEqual([])
})

it('names no folder and no machine', () => {
  expect(text).not.toContain(process.cwd())
  expect(text).not.toContain(`${homedir()}/`)
  expect(text).not.toMatch(/"file:|"link:|"\/[a-z]+\//)
  if (hostname().length >= LONG_ENOUGH) expect(text).not.toContain(hostname())
})
