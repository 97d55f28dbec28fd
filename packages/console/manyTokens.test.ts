import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildConsole } from './build.ts'
import { openBrowser } from './testing/browser.ts'
import { logIn, openConsole } from './testing/consolePage.ts'
import { type ManyTokens, serveManyTokens } from './testing/manyTokens.ts'

const TOKENS = 5000
const STEPS = 50
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

it('of 5,000 tokens only visible rows exist in the page, and a new price redraws its own row alone', async () => {
  const shown = await openConsole(browser, many.url)
  const { page } = shown
  await logIn(shown, many.key)
  await page.getByRole('heading', { name: 'Tokens 5,000' }).waitFor()
  expect(await page.locator('tr[data-token]').count()).toBeLessThan(60)

  const rows = await page.evaluateHandle(() => {
    const drawn: string[] = []
    const seen = new MutationObserver(changes => {
      const touched = changes.flatMap(({ target }) => {
        const element = target instanceof Element ? target : target.parentElement
        return element?.closest('tr[data-token]')?.getAttribute('data-token') ?? []
      })
      drawn.push(...new Set(touched))
    })
    seen.observe(document, { childList: true, subtree: true, characterData: true, attributes: true })
    return drawn
  })
  // One in sight among them: what nobody sees costs nothing to draw.
  for (let step = 0; step < STEPS; step++)
    await many.move(
      Array.from({ length: PRICES }, (_, n) => (n === 0 ? step % 10 : (step * 97 + n * 1009) % TOKENS)),
    )
  await expect.poll(() => rows.evaluate(drawn => new Set(drawn).size)).toBeGreaterThanOrEqual(10)
  // The rest of a step is seldom in sight. What the page costs in processor time is a row of bench/console.ts.
  expect(await rows.evaluate(drawn => drawn.length)).toBeLessThan(2 * STEPS)

  // To the end of the list and back: the rows follow.
  const box = page.getByRole('region', { name: 'Live prices' })
  await box.evaluate(element => element.scrollTo(0, element.scrollHeight))
  await page.locator('tr[aria-rowindex="5001"]').waitFor()
  expect(await page.locator('tr[data-token]').count()).toBeLessThan(60)
  expect(shown.faults()).toEqual([])
  await shown.close()
})
