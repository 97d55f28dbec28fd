/**
 * The console of a test service in a browser context of its own, with an ear for what must never happen: an error, a
 * violation of the content security policy, a request that leaves the origin.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

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
  await expect.poll(() => page.getByRole('banner').getByRole('status').textContent(), PATIENT).toBe('Live')
}

/** For machines with other things to do. */
export const PATIENT = { timeout: 30_000 } as const
