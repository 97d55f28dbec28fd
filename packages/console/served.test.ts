/** The bundle as it goes over the wire: how large, how long it keeps, and what it lets a page do. */
import { readdirSync } from 'node:fs'
import { get } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildConsole } from './build.ts'
import { type ManyTokens, serveManyTokens } from './testing/manyTokens.ts'

let served: ManyTokens
let paths: readonly string[]
beforeAll(async () => {
  const folder = await buildConsole()
  paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => `${entry.parentPath}/${entry.name}`.slice(folder.length))
    .map(path => (path === '/index.html' ? '/' : path))
  served = await serveManyTokens(1, folder)
})
afterAll(() => served?.close())

type Answer = {
  readonly path: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly bytes: number
}

/** By `http` itself: fetch would unpack what came. */
const ask = (path: string, encoding: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    get(`${served.url}${path}`, { headers: { 'accept-encoding': encoding } }, answer => {
      let bytes = 0
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length))
      answer.on('end', () => resolve({ path, headers: answer.headers, bytes }))
    }).on('error', reject)
  })
const askAll = (encoding: string) => Promise.all(paths.map(path => ask(path, encoding)))

it('the whole console is at most 120 kB for a client that accepts gzip, and uncompressed for others', async () => {
  const packed = await askAll('gzip, deflate, br')
  expect(packed.map(({ headers }) => headers['content-encoding'])).toEqual(paths.map(() => 'gzip'))
  expect(packed.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(120_000)
  const plain = await askAll('identity')
  expect(plain.map(({ headers }) => headers['content-encoding'])).toEqual(paths.map(() => undefined))
})

it('files with a hash in their names are cached for good; the page that names them is revalidated each time', async () => {
  for (const { path, headers } of await askAll('gzip')) {
    const isHashed = /^\/assets\/[a-z]+-[\w-]{8}\.(?:js|css)$/.test(path)
    expect([path, headers['cache-control']]).toEqual([
      path,
      isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    ])
  }
  expect(paths.filter(path => !path.startsWith('/assets/')).sort()).toEqual(['/', '/icon.svg'])
})

it('nothing may be loaded from elsewhere, injected into the page, or framed', async () => {
  for (const { headers } of await askAll('gzip'))
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    )
})
