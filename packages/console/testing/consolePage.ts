/**
 * The console of a test service in a browser context of its own, with an ear for what must never happen: an error, a
 * violation of the content security policy, a request that leaves the origin.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

export const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export type ConsolePage = {
  readonly page: Page
  /** What went wrong that no one may cause; `allowed` are words of messages that a test brings about itself. */
  faults(...allowed: readonly string[]): readonly string[]
  /** Findings of axe that are serious or worse, as rule and element. */
  seriousFindings(): Promise<readonly string[]>
  goTo(hash: string): Promise<void>
  close(): Promise<void>
}

export async function openConsole(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const context: BrowserContext = await browser.newContext({ locale: 'en-US', ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENT.timeout)
  const faults: string[] = []
  page.on('request', request => {
    if (new URL(request.url()).host !== new URL(url).host) faults.push(`left the origin: ${request.url()}`)
  })
  page.on('pageerror', error => faults.push(`error: ${error.message}`))
  page.on('console', message => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`)
  })
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', event =>
      console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`),
    )
  })
  await page.goto(url)
  return {
    page,
    faults: (...allowed) => faults.filter(fault => !allowed.some(part => fault.includes(part))),
    async seriousFindings() {
      // Through the debugger, which no policy of the page binds.
      await page.evaluate(AXE)
      const { violations } = await page.evaluate(() =>
        (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
      )
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) =>
          nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')} ${failureSummary}`),
        )
    },
    goTo: hash => page.evaluate(to => void (location.hash = to), hash),
    close: () => context.close(),
  }
}

/** Logged in with this key, and at the overview. */
export async function logIn({ page }: ConsolePage, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('region', { name: 'Live prices' }).waitFor()
  await page
    .getByRole('banner')
    .getByRole('status')
    .filter({ hasText: /^Live$/ })
    .waitFor(PATIENT)
}

/** For machines with other things to do. */
export const PATIENT = { timeout: 60_000 } as const

/** For a page loaded from scratch: when its first price was drawn, and its requests until then. */
export type FirstPrice = { readonly drawnAtMs: number; readonly asked: readonly string[] }

export async function firstPrice({ page }: ConsolePage): Promise<FirstPrice> {
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
  await page.waitForFunction(() => performance.getEntriesByName('first-price').length > 0, undefined, PATIENT)
  return page.evaluate(() => {
    const drawnAtMs = performance.getEntriesByName('first-price')[0]?.startTime ?? Number.NaN
    const asked = performance.getEntriesByType('resource').filter(({ startTime }) => startTime < drawnAtMs)
    return { drawnAtMs, asked: asked.map(({ name }) => new URL(name).pathname) }
  })
}
