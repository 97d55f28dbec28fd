/** The Node that npm scripts run on: the one that came as a package, also where npm did not link it. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { olderNode } from '../packages/cli/testing/olderNode.ts'
import manifest from '../package.json' with { type: 'json' }

const CAME = `node-${process.platform}-${process.arch}`

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'assay-node-'))
  mkdirSync(join(root, 'scripts'))
  mkdirSync(join(root, 'node_modules'))
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
  copyFileSync(join(import.meta.dirname, 'linkNode.js'), join(root, 'scripts/linkNode.js'))
})
afterEach(() => rmSync(root, { recursive: true }))

const link = () => join(root, 'node_modules/.bin/node')
const runLink = () => execFileSync(process.execPath, [join(root, 'scripts/linkNode.js')])

function install(): void {
  mkdirSync(join(root, 'node_modules', CAME, 'bin'), { recursive: true })
  writeFileSync(join(root, 'node_modules', CAME, 'bin/node'), 'a program')
}

test('an install links the Node that came with it, and a second install leaves the link alone', () => {
  install()
  for (const _ of ['first', 'second']) {
    runLink()
    expect(readlinkSync(link())).toBe(`../${CAME}/bin/node`)
  }
})

test('an install without a Node for this machine links nothing', () => {
  runLink()
  expect(existsSync(link())).toBe(false)
})

test('npm runs both around the install and the tests', () => {
  expect(manifest.scripts).toMatchObject({
    postinstall: 'node scripts/linkNode.js',
    pretest: 'node scripts/requireNode.js',
  })
})

test('the test command says in one line that this Node is too old', () => {
  const script = join(import.meta.dirname, 'requireNode.js')
  const { status, stderr } = spawnSync(process.execPath, ['--import', olderNode({}), script], {
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/^Node 24 is needed and this is 20\.11\.0;[^\n]*\n$/),
  ])
  expect(spawnSync(process.execPath, [script]).status).toBe(0)
})
