/** docs/evidence/DEPENDENCIES.md matches the lockfile, each package has its reason, and no script at install is new to us. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { READ_SCRIPTS, REASONS } from './dependencyReasons.ts'
import { dependencyParts, directDependencies, withScripts } from './dependencyTable.ts'
import { withParts } from './docsParts.ts'
import { foreign, idOf, locked, nameOf } from './lockfile.ts'

/** Those that ask for no more than their name and their text. */
const EASY = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'MIT OR Apache-2.0',
])
/** Others, each looked at: what of it is used, and where. */
const LOOKED_AT = new Set([
  // Contracts of the local world, see the table.
  '@uniswap/v2-core GPL-3.0-or-later',
  '@uniswap/v3-core BUSL-1.1',
  '@uniswap/v4-core BUSL-1.1',
  '@pancakeswap/v3-core GPL-2.0-or-later',
  '@cryptoalgebra/v1-core GPL-2.0-or-later',
])
/** A tool of the build, unchanged, of which nothing is in what is built. */
const BUILD_TOOL = /^lightningcss(-.+)? MPL-2\.0$/

/** Anvil, for which a machine without the package names its own binary. */
const OWN_BINARY = 'node_modules/@foundry-rs/anvil-linux-arm64'

/** Entries that `npm run lockfile` added: npm writes the hash on the first machine whose registry has the archive. */
const mayComeLater = (path: string): boolean =>
  locked[path]?.optional === true &&
  (path === OWN_BINARY || !/-linux-(x64|arm64)|\/linux-(x64|arm64)/.test(path)) &&
  locked[path]?.os !== undefined

const SIZE = /\| (\d+\.\d|about \d+|not here) \| (?=[^|]+ \|$)/gm

it('the tables are as `npm run docs:dependencies` writes them', () => {
  const text = readFileSync('docs/evidence/DEPENDENCIES.md', 'utf8')
  const made = withParts(text, dependencyParts(), 'npm run docs:dependencies')
  expect(made.replaceAll(SIZE, '| size | ')).toBe(text.replaceAll(SIZE, '| size | '))
  const sizes = (page: string) => [...page.matchAll(SIZE)].map(([, size = '']) => size)
  expect(sizes(text).length).toBe(directDependencies().length)
  for (const [at, size] of sizes(made).entries()) {
    const stated = sizes(text)[at] ?? ''
    // Binaries are of the machine.
    if (/^\d/.test(size))
      expect(Math.abs(Number(size) - Number(stated)), stated).toBeLessThan(0.2 + 0.1 * Number(stated))
  }
})

it('every package that one of ours depends on has a reason, and every reason a package', () => {
  expect(Object.keys(REASONS).toSorted()).toEqual(
    directDependencies()
      .map(({ name }) => name)
      .toSorted(),
  )
})

it('every install script has been reviewed, in this version', () => {
  expect(withScripts().map(idOf).toSorted()).toEqual(Object.keys(READ_SCRIPTS).toSorted())
})

it('npm may run the reviewed install scripts, and no others', () => {
  const reviewed = Object.keys(READ_SCRIPTS).map(id => [id.slice(0, id.lastIndexOf('@')), true])
  expect(manifest.allowScripts).toEqual(Object.fromEntries(reviewed))
})

it('every version is pinned, and every archive has its hash; for other platforms than Linux it may come later', () => {
  const ours = Object.entries(locked).filter(([path]) => !path.includes('node_modules/'))
  const loose = ours.flatMap(([path, { dependencies, devDependencies, optionalDependencies }]) =>
    Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
      .filter(([name, version]) => !name.startsWith('@assay/') && !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${path} ${name} ${version}`),
  )
  expect(loose).toEqual([])
  const bare = foreign.filter(path => locked[path]?.integrity?.startsWith('sha512-') !== true)
  expect(bare.filter(path => !mayComeLater(path))).toEqual([])
})

it('no licence at run time is new to us', () => {
  const strange = foreign
    .filter(path => locked[path]?.dev !== true && !EASY.has(locked[path]?.license ?? ''))
    .map(path => `${nameOf(path)} ${locked[path]?.license}`)
    .filter(each => !LOOKED_AT.has(each) && !BUILD_TOOL.test(each))
  expect(strange).toEqual([])
})
