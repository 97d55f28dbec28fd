import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@assay/sdk'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endSessions, open, type Session } from '../cli/testing/session.ts'
import { openBrowser } from './testing/browser.ts'
import { firstPrice, logIn, openConsole } from './testing/consolePage.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-paint-'))
/** Of the local world. How long it all takes is a row of bench/console.ts. */
const CHAINS = 6
let world: Session
let browser: Browser
let url: string
let key: string
beforeAll(async () => {
  world = open('a pipe', ['start', '--port', '0', '--json'], { cwd: folder })
  const [line] = await world.until(/^\{.*\}$/m)
  ;({ url, key } = JSON.parse(line) as { url: string; key: string })
  browser = await openBrowser()
}, 360_000)
afterAll(endSessions)
afterAll(async () => {
  await browser?.close()
  world.interrupt()
  await world.ended
  rmSync(folder, { recursive: true })
})

it('a price of the local world appears after one request each for the session, the chains, and the tokens of each chain', async () => {
  const { admin } = createClient({ baseUrl: url, apiKey: key })
  const own = await admin.issueKey({ consumer: 'visitor', name: 'visitor', scopes: ['read', 'stream'] })
  const shown = await openConsole(browser, url)
  await logIn(shown, own.key)
  const { asked } = await firstPrice(shown)
  const times = (path: string) => asked.filter(each => each === path).length
  expect([times('/v1/session'), times('/v1/chains')], asked.join()).toEqual([1, 1])
  // The first chain to answer has the first price: the others need not have been asked by then.
  expect(times('/v1/tokens'), asked.join()).toBeGreaterThan(0)
  expect(times('/v1/tokens'), asked.join()).toBeLessThanOrEqual(CHAINS)
  await shown.close()
})
