import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { buildConsole } from './build.ts'

let folder: string
beforeAll(async () => {
  folder = await buildConsole()
})

const filesIn = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))

const packed = (file: string): number => gzipSync(readFileSync(file)).length

/** What the page names is loaded with it; what it does not name waits until it is asked for. */
const isNamed = (file: string): boolean =>
  file.endsWith('index.html') || readFileSync(join(folder, 'index.html'), 'utf8').includes(basename(file))

const sum = (files: readonly string[]): number => files.reduce((all, file) => all + packed(file), 0)

// Rules grow with every pool family; they cost only those who verify, and operations only operators.
test('the bundle is at most 120 kB compressed, all files together', () => {
  expect(sum(filesIn())).toBeLessThanOrEqual(120_000)
})

test('the first page loads at most 65 kB; rarely used pages load on demand', () => {
  const [first, later] = [filesIn().filter(isNamed), filesIn().filter(file => !isNamed(file))]
  expect(sum(first)).toBeLessThanOrEqual(65_000)
  expect(later.map(file => basename(file).replace(/-.*/, '')).sort()).toEqual([
    'operations',
    'seller',
    'verify',
  ])
})

test('the bundle has nothing that no page uses: schemas, the chain reader, preloading, source locations', () => {
  const code = filesIn()
    .filter(file => file.endsWith('.js'))
    .map(file => readFileSync(file, 'utf8'))
    .join('')
  expect(code).toContain('policy_version')
  expect(code).not.toMatch(/additionalProperties|eth_call|modulepreload|\.tsx/)
})

test('unchanged sources are not built again', async () => {
  const builtAt = statSync(join(folder, 'index.html')).mtimeMs
  const said: string[] = []
  expect(await buildConsole(line => said.push(line))).toBe(folder)
  expect([said, statSync(join(folder, 'index.html')).mtimeMs]).toEqual([[], builtAt])
})

test('the page has no inline script or style, and names only files of its own origin', () => {
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script[^>]*>[^<]/)
  expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
  const addresses = filesIn().flatMap(
    file => readFileSync(file, 'utf8').match(/(?:https?|wss?):\/\/[a-z0-9.-]+/g) ?? [],
  )
  expect(addresses.filter(address => !address.startsWith('http://www.w3.org'))).toEqual([])
})
