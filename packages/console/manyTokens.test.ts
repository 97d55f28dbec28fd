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
        // A new price is a new cell of its row, or a new text in its cell. The other cells follow the clock.
        const isPrice = element?.matches('tr') === true || element?.closest('td:nth-child(3)') != null
        return isPrice ? (element?.closest('tr[data-token]')?.getAttribute('data-token') ?? []) : []
      })
      drawn.push(...new Set(touched))
    })
    seen.observe(document, { childList: true, subtree: true, characterData: true, attributes: true })
    return drawn
  })
  const numbers = new Map(Array.from({ length: TOKENS }, (_, n) => [many.rowOf(n), n]))
  const inSight = await page
    .locator('tr[data-token]')
    .evaluateAll(shownRows => shownRows.map(row => row.getAttribute('data-token') ?? ''))
  const moved: string[] = []
  // One in sight among them: what nobody sees costs nothing to draw.
  for (let step = 0; step < STEPS; step++) {
    const tokens = Array.from({ length: PRICES }, (_, n) =>
      n === 0 ? (numbers.get(inSight[step % 10] ?? '') ?? 0) : (step * 97 + n * 1009) % TOKENS,
    )
    await many.move(tokens)
    moved.push(...tokens.map(n => many.rowOf(n)))
  }
  await expect.poll(() => rows.evaluate(drawn => new Set(drawn).size)).toBeGreaterThanOrEqual(10)
  // When it arrives, and when it is no longer new. What the page costs in processor time is a row of bench/console.ts.
  const drawn = await rows.jsonValue()
  const timesIn = (list: readonly string[], row: string) => list.filter(each => each === row).length
  const tooOften = [...new Set(drawn)].filter(row => timesIn(drawn, row) > 2 * timesIn(moved, row))
  expect(tooOften).toEqual([])

  // To the end of the list and back: the rows follow.
  const box = page.getByRole('region', { name: 'Live prices' })
  await box.evaluate(element => element.scrollTo(0, element.scrollHeight))
  await page.locator('tr[aria-rowindex="5001"]').waitFor()
  expect(await page.locator('tr[data-token]').count()).toBeLessThan(60)
  expect(shown.faults()).toEqual([])
  await shown.close()
})
