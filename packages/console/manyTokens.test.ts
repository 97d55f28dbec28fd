import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '../server/service/testing/until.ts'
import { buildConsole } from './build.ts'
import { openBrowser } from './testing/browser.ts'
import { logIn, openConsole } from './testing/consolePage.ts'
import { type ManyTokens, serveManyTokens } from './testing/manyTokens.ts'

const TOKENS = 5000
/** Ten steps a second of five prices each, for as long as is needed to tell. */
const STEPS = 50
const STEP_MS = 100
const PRICES = 5

let browser: Browser
let many: ManyTokens
beforeAll(async () => {
  const consoleFolder = await buildConsole()
  ;[browser, many] = await Promise.all([openBrowser(), serveManyTokens(TOKENS, consoleFolder)])
})
afterAll(async () => {
  await browser?.close()
  await many?.close()
})

it('5,000 tokens with 50 new prices a second take less than half a core, and only rows in sight exist', async () => {
  const shown = await openConsole(browser, many.url)
  const { page } = shown
  await logIn(shown, many.key)
  await page.getByRole('heading', { name: 'Tokens 5,000' }).waitFor()
  expect(await page.locator('tr[data-token]').count()).toBeLessThan(60)

  const debug = await page.context().newCDPSession(page)
  await debug.send('Performance.enable')
  const used = async () => {
    const { metrics } = await debug.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'ProcessTime')?.value ?? Number.NaN
  }
  const [before, startedAt] = [await used(), performance.now()]
  let moved = 0
  // Prices in sight among them: what nobody sees costs nothing to draw.
  for (let step = 0; step < STEPS; step++) {
    await until(`step ${step} due`, () => performance.now() >= startedAt + step * STEP_MS)
    await many.move(
      Array.from({ length: PRICES }, (_, n) => (n === 0 ? step % 10 : (step * 97 + n * 1009) % TOKENS)),
    )
    moved += PRICES
  }
  const tookS = (performance.now() - startedAt) / 1000
  const cores = ((await used()) - before) / tookS
  console.log(
    `${(moved / tookS).toFixed(0)} prices/s on ${TOKENS} tokens: ${(cores * 100).toFixed(0)}% of a core`,
  )
  expect(cores).toBeLessThan(0.5)

  // To the end of the list and back: the rows follow.
  const box = page.getByRole('region', { name: 'Live prices' })
  await box.evaluate(element => element.scrollTo(0, element.scrollHeight))
  await page.locator('tr[aria-rowindex="5001"]').waitFor()
  expect(await page.locator('tr[data-token]').count()).toBeLessThan(60)
  expect(shown.faults()).toEqual([])
  await shown.close()
})
