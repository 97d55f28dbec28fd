/** Every page and state of the console as a visitor sees it: what is wrong with it, and a picture. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { AXE } from './consolePage.ts'

export const WIDTHS = [1440, 1024, 390] as const
export const SCHEMES = ['light', 'dark'] as const
export type Look = { readonly width: number; readonly scheme: 'light' | 'dark' }

const FOLDER = join(import.meta.dirname, '../../../.cache/looks')
/** Content that moves by less than this, as a share of the screen, is not seen to move. */
const MOST_SHIFT = 0.001
const HEIGHT = 900

export const viewportOf = ({ width }: Look) => ({ width, height: HEIGHT })

type Source = {
  readonly node?: Element | null
  readonly previousRect: DOMRectReadOnly
  readonly currentRect: DOMRectReadOnly
}

/** Adds up how far content moved without the visitor having done anything. */
export async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen = { total: 0, what: [] as string[] }
    Object.assign(globalThis, { shifts: seen })
    new PerformanceObserver(list => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput, sources } = entry as PerformanceEntry & {
          readonly value: number
          readonly hadRecentInput: boolean
          readonly sources: readonly Source[]
        }
        if (hadRecentInput) continue
        seen.total += value
        for (const { node, previousRect: from, currentRect: to } of sources)
          seen.what.push(
            `${value.toFixed(4)} ${node?.nodeName} ${node?.className} ${from.x},${from.y} to ${to.x},${to.y}`,
          )
      }
    }).observe({ type: 'layout-shift', buffered: true })
  })
}

/** Loads the page at this place and waits until it has stopped drawing. */
export async function settle(page: Page, hash: string, ready: string): Promise<void> {
  await page.goto(new URL(hash, page.url()).href)
  await page.reload()
  await page.locator(ready).first().waitFor()
  await page.waitForLoadState('networkidle')
  await page.evaluate(() => new Promise(resolve => setTimeout(resolve, 300)))
}

/**
 * What is wrong: findings of axe of any severity, content that moved, and what is wider than the screen. A live tail
 * moves by its nature, when a record comes in.
 */
export async function faultsOf(page: Page, isTail: boolean): Promise<readonly string[]> {
  const shifts = await page.evaluate(
    () => (globalThis as unknown as { shifts: { total: number; what: string[] } }).shifts,
  )
  const { scrollWidth, clientWidth } = await page.evaluate(() => ({
    scrollWidth: document.documentElement.scrollWidth,
    clientWidth: document.documentElement.clientWidth,
  }))
  await page.evaluate(AXE)
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  )
  return [
    ...violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} ${target.join(' ')}`)),
    ...(isTail || shifts.total < MOST_SHIFT ? [] : [`moved by ${shifts.total.toFixed(4)}`, ...shifts.what]),
    ...(scrollWidth > clientWidth ? [`${scrollWidth} wide on a screen of ${clientWidth}`] : []),
  ]
}

export async function picture(page: Page, name: string, { width, scheme }: Look): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  // Otherwise the header stands in the middle of the picture.
  await page.evaluate(() => window.scrollTo(0, 0))
  await page.screenshot({ path: join(FOLDER, `${name}-${width}-${scheme}.png`), fullPage: true })
}
