/** The page of the API at /docs in Chromium: every operation can be tried there, with a key that the page keeps to itself. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApiDocument } from '../server/http/openapi/document.ts'
import { health } from '../server/store/testing/drafts.ts'
import { openTestApi, type TestApi } from '../server/endToEnd/testing/testApi.ts'
import { openBrowser } from './testing/browser.ts'
import { type ConsolePage, openConsole } from './testing/consolePage.ts'

let api: TestApi
let browser: Browser
beforeAll(async () => {
  api = await openTestApi()
  await api.commit(1, [health(1, 'HEALTHY')])
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await api?.close()
})

/** A browser writes each answer of 400 and more to the console. */
const REFUSED = 'Failed to load resource'

async function openDocs(scheme: 'light' | 'dark', hash = ''): Promise<ConsolePage> {
  const docs = await openConsole(browser, `${api.url}/docs${hash}`, { colorScheme: scheme })
  await docs.page.locator('details').first().waitFor()
  return docs
}

describe.each(['light', 'dark'] as const)('in %s', scheme => {
  it('an operation is filled in and sent: shows the request as curl, and status, headers and body', async () => {
    const docs = await openDocs(scheme, '#readHealth')
    const operation = docs.page.locator('#readHealth')
    const key = await api.key(['read'])
    await operation.getByLabel('chain_id *').fill('1')
    expect(await operation.locator('.curl').textContent()).toBe(
      `curl '${api.url}/v1/chains/1/health' \\\n  -H "Authorization: Bearer $ASSAY_KEY"`,
    )
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.getByText('401').first().waitFor()
    await operation.getByText('paste a key above').waitFor()
    await docs.page.getByLabel('Key').fill(key)
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.locator('.status', { hasText: '200' }).waitFor()
    const [headers, body] = await operation.locator('.answer pre').allTextContents()
    expect(headers).toContain('x-request-id: ')
    expect(JSON.parse(body ?? '')).toMatchObject({ chain_id: 1, status: 'HEALTHY' })
    // What is copied or kept has no key in it.
    expect(await docs.page.locator('main').textContent()).not.toContain(key)
    const kept = () =>
      JSON.stringify([
        Object.entries(localStorage),
        Object.entries(sessionStorage),
        document.cookie,
        location.href,
      ])
    expect(await docs.page.evaluate(kept)).not.toContain(key)
    expect(await docs.seriousFindings()).toEqual([])
    expect(docs.faults(REFUSED)).toEqual([])
    await docs.close()
  })

  it('a body is prefilled from its example, and its response is shown unchanged', async () => {
    const docs = await openDocs(scheme, '#quoteTokens')
    const operation = docs.page.locator('#quoteTokens')
    await docs.page.getByLabel('Key').fill(await api.key(['read']))
    await operation.getByLabel('body *').fill('{"tokens":[]}')
    expect(await operation.locator('.curl').textContent()).toContain(`-d '{"tokens":[]}'`)
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.locator('.status', { hasText: '400' }).waitFor()
    expect(await operation.locator('.answer').textContent()).toContain('INVALID_PARAMS')
    expect(await docs.seriousFindings()).toEqual([])
    expect(docs.faults(REFUSED)).toEqual([])
    await docs.close()
  })
})

it('every operation of the description has a form, with a described field for each parameter', async () => {
  const docs = await openDocs('light')
  const { paths } = openApiDocument() as unknown as {
    paths: Record<string, Record<string, { operationId: string; parameters: readonly object[] }>>
  }
  const operations = Object.values(paths).flatMap(methods => Object.values(methods))
  for (const { operationId, parameters } of operations) {
    await docs.page.locator(`#${operationId} > summary`).click()
    const fields = docs.page.locator(`#${operationId} form.try .field`)
    await docs.page.locator(`#${operationId} form.try`).waitFor()
    const inputs = await fields.locator('input, select').count()
    expect([operationId, inputs]).toEqual([operationId, parameters.length])
    for (const about of await fields.locator('small').allTextContents())
      expect(about.length).toBeGreaterThan(8)
  }
  expect(await docs.seriousFindings()).toEqual([])
  expect(docs.faults()).toEqual([])
  await docs.close()
})

it('works with the keyboard alone and on a narrow screen', async () => {
  const docs = await openConsole(browser, `${api.url}/docs`, { viewport: { width: 360, height: 720 } })
  await docs.page.locator('details').first().waitFor()
  await docs.page.getByLabel('Find').fill('/v1/tokens')
  await docs.page.locator('#listTokens > summary').focus()
  await docs.page.keyboard.press('Enter')
  await docs.page.locator('#listTokens form').waitFor()
  const wide = () => document.documentElement.scrollWidth > document.documentElement.clientWidth
  expect(await docs.page.evaluate(wide)).toBe(false)
  await docs.close()
})
