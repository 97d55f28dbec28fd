/**
 * `npm run test:node22`: the examples of the SDK and every program of the docs, as printed, on Node 22, the oldest the SDK
 * supports. The runtime is fetched from npm into a temporary folder; the service and the tests run on their own.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { commandLine } from './commandLine.ts'

commandLine('npm run test:node22', {})

const ROOT = resolve(import.meta.dirname, '..')
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs')
const TESTS = ['packages/server/endToEnd/examples.test.ts', 'packages/cli/world.test.ts']
const NAMES = 'examples of the SDK|programs run as written'

const folder = mkdtempSync(join(tmpdir(), 'assay-node22-'))
try {
  const runtime = `node-linux-${process.arch}@22`
  // Its install script would link it into other packages; the file itself is in the package.
  execFileSync(
    'npm',
    ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', runtime],
    {
      stdio: 'ignore',
    },
  )
  const node = join(folder, 'node_modules', `node-linux-${process.arch}`, 'bin/node')
  console.log(`Node ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()}`)
  const { status } = spawnSync(process.execPath, [VITEST, 'run', ...TESTS, '-t', NAMES], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ASSAY_EXAMPLE_NODE: node },
  })
  process.exitCode = status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
