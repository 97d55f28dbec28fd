/** Pages of other origins in Chromium: they cannot act with the console's session, and read with a key only where they are listed. */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { health } from '../server/store/testing/drafts.ts'
import { openTestApi, type TestApi } from '../server/endToEnd/testing/testApi.ts'
import type * as mcpInPage from '../server/endToEnd/testing/mcpInPage.ts'
import { openBrowser } from './testing/browser.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SCRIPTS = {
  sdk: join(ROOT, 'packages/sdk/index.ts'),
  mcp: join(ROOT, 'packages/server/endToEnd/testing/mcpInPage.ts'),
}

const PAGE = `<!doctype html><title>a page</title><script type="module">
import * as sdk from "/sdk.js"
import * as mcp from "/mcp.js"
Object.assign(globalThis, { sdk, mcp })
</script>`

let folder: string
let listed: Server
let unlisted: Server
let api: TestApi
let browser: Browser
let context: BrowserContext
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-foreign-'))
  await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir: folder,
      emptyOutDir: true,
      lib: { entry: SCRIPTS, formats: ['es'], fileName: (_, name) => `${name}.js` },
    },
  })
  ;[listed, unlisted] = [await serve(), await serve()]
  api = await openTestApi({ corsOrigins: [originOf(listed)] })
  await api.commit(1, [health(1, 'HEALTHY')])
  browser = await openBrowser()
  context = await browser.newContext()
})
afterAll(async () => {
  await browser?.close()
  await api?.close()
  for (const server of [listed, unlisted]) server?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Somebody's pages on a port of this machine: an empty one that has loaded the SDK and the client of MCP. */
async function serve(): Promise<Server> {
  const server = createServer(({ url = '/' }, response) => {
    const isScript = url.endsWith('.js')
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
    response.end(isScript ? readFileSync(join(folder, url)) : PAGE)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}
const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function pageAt(origin: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${origin}/`)
  return page
}

/** The status that the service answered a page's request with, whatever the page itself may see of it. */
async function statusOf(page: Page, path: string, method: string): Promise<number> {
  const answered = page.waitForResponse(response => response.url() === `${api.url}${path}`)
  await page.evaluate(
    ([url, how]) =>
      fetch(url, { method: how, credentials: 'include', mode: 'no-cors' }).then(
        () => undefined,
        () => undefined,
      ),
    [`${api.url}${path}`, method] as const,
  )
  return (await answered).status()
}

const opensStream = (page: Page): Promise<boolean> =>
  page.evaluate(
    url =>
      new Promise<boolean>(resolve => {
        const socket = new WebSocket(url)
        socket.addEventListener('open', () => resolve(true))
        socket.addEventListener('error', () => resolve(false))
      }),
    `${api.url.replace(/^http/, 'ws')}/v1/stream`,
  )

describe('H20: a page on another loopback port, beside the console’s session', () => {
  it('can neither create a cursor nor open a stream nor query with it; our own page can', async () => {
    const own = await pageAt(api.url)
    await own.evaluate(
      key => fetch('/v1/session', { method: 'POST', headers: { authorization: `Bearer ${key}` } }),
      await api.key(),
    )
    const foreign = await pageAt(originOf(unlisted))
    const mint = '/v1/session?chain_id=1'
    expect(await statusOf(foreign, mint, 'POST')).toBe(403)
    expect(await statusOf(foreign, '/v1/chains', 'GET')).toBe(403)
    expect(await opensStream(foreign)).toBe(false)
    expect(await statusOf(own, mint, 'POST')).toBe(200)
    expect(await opensStream(own)).toBe(true)
  })
})

type Read = { readonly chains: number; readonly requestId: boolean } | string

/** With the SDK and a key, over one of its reads and the batch. */
const read = (page: Page, key: string): Promise<Read> =>
  page.evaluate(
    async ([baseUrl, apiKey]) => {
      const { sdk } = globalThis as unknown as { readonly sdk: typeof import('@assay/sdk') }
      const client = sdk.createClient({ baseUrl, apiKey })
      try {
        const { chains } = await client.fetchChains()
        const token = { chain_id: 1, token_address: `0x${'12'.repeat(20)}` } as const
        await client.quoteTokens({ tokens: [token] })
        const plain = await fetch(`${baseUrl}/v1/chains`, { headers: { authorization: `Bearer ${apiKey}` } })
        const requestId =
          plain.headers.get('x-request-id') !== null && plain.headers.get('ratelimit') !== null
        return { chains: chains.length, requestId }
      } catch (failure) {
        return (failure as { code: string }).code
      }
    },
    [api.url, key] as const,
  )

const useTools = (page: Page, key: string, revision: string): ReturnType<typeof mcpInPage.useTools> =>
  page.evaluate(
    ([baseUrl, apiKey, wanted]) =>
      (globalThis as unknown as { readonly mcp: typeof mcpInPage }).mcp.useTools(baseUrl, apiKey, wanted),
    [api.url, key, revision] as const,
  )

describe('access.cors_origins', () => {
  it('a listed origin reads with a key, sees the headers it may see, and can read a refusal', async () => {
    const page = await pageAt(originOf(listed))
    expect(await read(page, await api.key())).toEqual({ chains: 2, requestId: true })
    expect(await read(page, 'assay_wrong')).toBe('UNAUTHENTICATED')
  })

  it('an origin that is not listed reads nothing', async () => {
    expect(await read(await pageAt(originOf(unlisted)), await api.key())).toBe('NETWORK')
  })

  it.each(['2026-07-28', '2025-11-25'])(
    'agents in a page of a listed origin use the tools, in %s',
    async revision => {
      const key = await api.key(['read'])
      expect(await useTools(await pageAt(originOf(listed)), key, revision)).toEqual({
        tools: 8,
        chains: [1, 2],
      })
      expect(await useTools(await pageAt(originOf(listed)), 'assay_wrong', revision)).toBe(401)
      expect(await useTools(await pageAt(originOf(unlisted)), key, revision)).toBe('unreachable')
    },
  )

  it('even a listed origin cannot act with the session', async () => {
    const page = await pageAt(originOf(listed))
    expect(await statusOf(page, '/v1/session', 'POST')).toBe(403)
    expect(await opensStream(page)).toBe(false)
  })
})
