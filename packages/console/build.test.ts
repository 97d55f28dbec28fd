import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
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

test('the whole bundle is at most 80 kB when packed', () => {
  const packed = filesIn().reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0)
  expect(packed).toBeLessThanOrEqual(80_000)
})

test('sources that have not changed are not built again', async () => {
  const builtAt = statSync(join(folder, 'index.html')).mtimeMs
  const said: string[] = []
  expect(await buildConsole(line => said.push(line))).toBe(folder)
  expect([said, statSync(join(folder, 'index.html')).mtimeMs]).toEqual([[], builtAt])
})

test('the page holds no script or style of its own and names only files of its own origin', () => {
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script[^>]*>[^<]/)
  expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
  const addresses = filesIn().flatMap(
    file => readFileSync(file, 'utf8').match(/(?:https?|wss?):\/\/[a-z0-9.-]+/g) ?? [],
  )
  expect(addresses.filter(address => !address.startsWith('http://www.w3.org'))).toEqual([])
})
