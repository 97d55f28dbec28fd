import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@assay/sdk'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endSessions, open, type Session } from '../cli/testing/session.ts'
import { openBrowser } from './testing/browser.ts'
import { logIn, openConsole, PATIENT } from './testing/consolePage.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-paint-'))
/** Of so many loads the one in the middle counts: the first finds cold caches, and any may meet a busy machine. */
const LOADS = 7
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

it('prices of the local world are on the screen within a second of opening the console', async () => {
  const { admin } = createClient({ baseUrl: url, apiKey: key })
  const times: number[] = []
  for (let load = 0; load < LOADS; load++) {
    // Of a consumer each: who opens the console again and again is held up by the rate limit instead.
    const own = await admin.issueKey({
      consumer: `visitor-${load}`,
      name: 'visitor',
      scopes: ['read', 'stream'],
    })
    times.push(await firstPriceMs(own.key))
  }
  times.sort((a, b) => a - b)
  console.log(`first price painted after ${times.map(each => each.toFixed(0)).join(', ')} ms`)
  expect(times[(LOADS - 1) / 2]).toBeLessThan(1000)
})

async function firstPriceMs(visitor: string): Promise<number> {
  const shown = await openConsole(browser, url)
  const { page } = shown
  await logIn(shown, visitor)
  // Noted by the page itself, when the first price is in it.
  await page.addInitScript(() => {
    const seen = new MutationObserver(() => {
      const cells = [...document.querySelectorAll('tr[data-token] td:nth-child(3)')]
      if (!cells.some(cell => cell.textContent.startsWith('$'))) return
      seen.disconnect()
      requestAnimationFrame(() => performance.mark('first-price'))
    })
    seen.observe(document, { childList: true, subtree: true, characterData: true })
  })
  await page.reload()
  const marks = () =>
    page.evaluate(() => performance.getEntriesByName('first-price').map(({ startTime }) => startTime))
  await expect.poll(marks, PATIENT).toHaveLength(1)
  const [time = Infinity] = await marks()
  await shown.close()
  return time
}
