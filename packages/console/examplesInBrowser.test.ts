/**
 * The examples of the SDK for pages, exactly as printed, in Chromium from another origin: plain HTML with the built
 * package and no build step, and the React hook (on Preact's implementation of React's interface).
 */
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, normalize, resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildPackage } from '../sdk/build.ts'
import { CHAIN_ID } from '../server/endToEnd/testing/plan.ts'
import { startTestChain, type TestChain } from '../server/endToEnd/testing/testChain.ts'
import { startTestService, type TestService } from '../server/endToEnd/testing/testService.ts'
import { openBrowser } from './testing/browser.ts'
import { PATIENT } from './testing/consolePage.ts'

const EXAMPLES = resolve(import.meta.dirname, '../sdk/examples')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
}

let folder: string
let pages: Server
let origin: string
let chain: TestChain
let service: TestService
let browser: Browser
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-pages-'))
  copyFileSync(join(EXAMPLES, 'plain.html'), join(folder, 'plain.html'))
  buildPackage(join(folder, 'node_modules/assay-sdk'))
  await build({
    configFile: false,
    root: join(EXAMPLES, 'react'),
    base: './',
    logLevel: 'warn',
    resolve: {
      alias: [
        { find: /^react$|^react-dom$/, replacement: 'preact/compat' },
        { find: 'react-dom/client', replacement: 'preact/compat/client' },
        { find: /^react\/jsx-(?:dev-)?runtime$/, replacement: 'preact/jsx-runtime' },
      ],
    },
    build: { outDir: join(folder, 'react'), emptyOutDir: true, modulePreload: { polyfill: false } },
  })
  pages = createServer(({ url = '/' }, response) => {
    const file = join(folder, normalize(url))
    if (!file.startsWith(folder) || !existsSync(file)) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
    response.end(readFileSync(file))
  })
  await once(pages.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
  chain = await startTestChain()
  service = await startTestService(chain, { tokens: ['MOTH'], access: { cors_origins: [origin] } })
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  pages?.close()
  await service?.close()
  await chain?.close()
  rmSync(folder, { recursive: true, force: true })
})

async function opened(path: string, token: string, key: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  await page.goto(`${origin}/${path}`)
  await page.getByLabel('Service').fill(service.url)
  await page.getByLabel('Key').fill(key)
  await page.getByLabel('Chain').fill(`${CHAIN_ID}`)
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Show' }).click()
  return page
}

describe.each(['plain.html', 'react/index.html'])('%s', path => {
  it('shows the price as it changes', async () => {
    await service.untilWell()
    const page = await opened(path, chain.token('MOTH'), await service.key(['read']))
    const text = () => page.locator('body').textContent()
    const price = async () => /([\d.]+) USD, confidence \d+/.exec((await text()) ?? '')?.[1]
    await expect.poll(price, PATIENT).toMatch(/^0\.0\d+$/)
    const before = await price()
    await chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDT', 'MOTH'), 'MOTH', 5000))
    await chain.untilMining('another price', async () => {
      const now = await price()
      return now !== undefined && now !== before
    })
    await page.close()
  })

  it('says what is wrong with the key', async () => {
    const page = await opened(path, chain.token('MOTH'), 'assay_wrong')
    await expect
      .poll(() => page.locator('body').textContent(), PATIENT)
      .toMatch(/The credential is missing, invalid, expired or revoked/)
    await page.close()
  })
})

it('each example fits on one screen: below 60 lines', () => {
  for (const file of ['plain.html', 'react/usePrice.ts', 'react/page.tsx'])
    expect(readFileSync(join(EXAMPLES, file), 'utf8').split('\n').length).toBeLessThan(60)
})
