/**
 * Builds the console's bundle: once for the current sources, kept in a folder named by their hash, and reused from
 * there. Nobody runs a build by hand, and a stale bundle cannot be served.
 */
import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = import.meta.dirname
const ROOT = resolve(HERE, '../..')
const CACHE = join(ROOT, '.cache', 'console')
/** The sources of the bundle: this package, and the packages it may import. */
const SOURCES = ['console', 'sdk', 'engine'].map(name => join(ROOT, 'packages', name))
/** The most bundles of earlier sources kept: enough to switch between branches without another build. */
const KEPT = 5

/** The folder that holds the bundle. `onProgress` is called only when there is something to wait for. */
export async function buildConsole(onProgress: (line: string) => void = () => undefined): Promise<string> {
  const folder = join(CACHE, sourceHash())
  if (existsSync(join(folder, 'index.html'))) return folder
  onProgress('Building the console.')
  const startedAt = performance.now()
  const unfinished = join(CACHE, `unfinished-${randomUUID()}`)
  mkdirSync(CACHE, { recursive: true })
  try {
    await bundle(unfinished)
    publish(unfinished, folder)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  onProgress(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`)
  forgetOld(folder)
  return folder
}

/** In a process of its own: what a bundler has allocated, it keeps for as long as its process lives. */
async function bundle(outDir: string): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./bundle.ts', import.meta.url)), outDir], {
    // Vite decides from it alone whether to build for development, which is larger and contains source paths.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error('the console cannot be built; the lines above say why')
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
