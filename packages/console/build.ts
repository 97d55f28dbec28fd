/**
 * Builds the console's bundle: once for the current sources, kept in a folder named by their hash, and reused from
 * there. Nobody runs a build by hand, and a stale bundle cannot be served.
 */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { plainLazyImport, steppedPlot } from './lean.ts'

const HERE = import.meta.dirname
const ROOT = resolve(HERE, '../..')
const CACHE = join(ROOT, '.cache', 'console')
/** The sources of the bundle: this package, and the packages it may import. */
const SOURCES = ['console', 'sdk', 'engine'].map(name => join(ROOT, 'packages', name))
/** The most bundles of earlier sources kept: enough to switch between branches without another build. */
const KEPT = 5

/** The builders of the wire's schemas (packages/sdk/wire/schema.ts): calls without side effects. */
const SCHEMA_BUILDERS = [
  'object',
  'strictObject',
  'optional',
  'map',
  'anyObject',
  'array',
  'string',
  'pattern',
  'enumeration',
  'known',
  'integer',
  'number',
  'boolean',
  'literal',
  'nullable',
  'union',
  'named',
  'reference',
  'describe',
  'envelope',
  'of',
]

/** The folder that holds the bundle. `onProgress` is called only when there is something to wait for. */
export async function buildConsole(onProgress: (line: string) => void = () => undefined): Promise<string> {
  const folder = join(CACHE, sourceHash())
  if (existsSync(join(folder, 'index.html'))) return folder
  onProgress('Building the console.')
  const startedAt = performance.now()
  const unfinished = join(CACHE, `unfinished-${randomUUID()}`)
  mkdirSync(CACHE, { recursive: true })
  try {
    await inProduction(() => bundle(unfinished))
    publish(unfinished, folder)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  onProgress(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`)
  forgetOld(folder)
  return folder
}

/** Loaded only when a build is needed: a start with a ready bundle does without. */
async function bundle(outDir: string): Promise<void> {
  const { build } = await import('vite')
  await build({
    configFile: false,
    root: HERE,
    base: './',
    logLevel: 'warn',
    publicDir: join(HERE, 'public'),
    plugins: [steppedPlot(), plainLazyImport()],
    // Children as arguments and not as a property: the same elements in fewer bytes.
    oxc: {
      jsx: { runtime: 'classic', pragma: 'createElement', pragmaFrag: 'Fragment' },
      jsxInject: "import { createElement, Fragment } from 'preact'",
    },
    build: {
      outDir,
      emptyOutDir: true,
      target: ['chrome123', 'firefox121', 'safari17.5'],
      // Nothing inlined: the content security policy allows no data: addresses.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        treeshake: {
          moduleSideEffects: id => id.startsWith(HERE) || id.endsWith('.css'),
          manualPureFunctions: SCHEMA_BUILDERS,
          // Schemas are spread into one another; reading a property of ours never has side effects.
          propertyReadSideEffects: false,
        },
      },
    },
  })
}

/**
 * Vite decides from NODE_ENV alone whether to build for development, which is larger and contains source paths.
 * Our bundle must not depend on the caller, even a test.
 */
async function inProduction(work: () => Promise<void>): Promise<void> {
  const { NODE_ENV: before } = process.env
  process.env['NODE_ENV'] = 'production'
  try {
    await work()
  } finally {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  }
}

/** Another process may have finished the same bundle first; its result is then used. */
function publish(unfinished: string, folder: string): void {
  try {
    renameSync(unfinished, folder)
  } catch (failure) {
    if (!existsSync(join(folder, 'index.html'))) throw failure
  }
}

function sourceHash(): string {
  const hash = createHash('sha256')
  for (const folder of SOURCES)
    for (const file of filesIn(folder)) hash.update(relative(ROOT, file)).update(readFileSync(file))
  for (const name of ['vite', 'preact', 'uplot']) hash.update(versionOf(name))
  return hash.digest('hex').slice(0, 16)
}

const versionOf = (name: string): string =>
  readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && /\.(tsx?|css|html|svg)$/.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
    .filter(file => !/[\\/](node_modules|testing|oracle)[\\/]|\.test\.ts$/.test(relative(ROOT, file)))
    .sort()
}

function forgetOld(current: string): void {
  const bundles = readdirSync(CACHE).filter(name => !name.startsWith('unfinished-'))
  for (const name of bundles.slice(0, Math.max(0, bundles.length - KEPT)))
    if (join(CACHE, name) !== current) rmSync(join(CACHE, name), { recursive: true, force: true })
}
