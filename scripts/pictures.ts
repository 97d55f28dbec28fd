/**
 * `npm run docs:pictures -- URL KEY [TOKEN]` takes the docs' pictures of the console from a running service. The local
 * world has a full chart an hour after `npm start`.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openBrowser } from '../packages/console/testing/browser.ts'

type Browser = Awaited<ReturnType<typeof openBrowser>>
type Page = Awaited<ReturnType<Browser['newPage']>>
type Visitor = Parameters<Browser['newContext']>[0]

const FOLDER = join(import.meta.dirname, '..', 'docs', 'images')
/** The lines on the cards of chains cover the last minute. */
const STAY_MS = 65_000
/** For what is drawn last: the sales of a token, and new prices without their highlight. */
const REST_MS = 5000
const PHONE = { viewport: { width: 390, height: 780 }, colorScheme: 'dark' } as const

const [url, key, token = '1/0x00000000000000000000000000000000a55a0001'] = process.argv.slice(2)
if (url === undefined || key === undefined) {
  console.error('Usage: npm run docs:pictures -- http://127.0.0.1:8080 "$(cat data/key)" [CHAIN/ADDRESS]')
  process.exit(2)
}

mkdirSync(FOLDER, { recursive: true })
const browser = await openBrowser()
try {
  const desktop = await logIn(browser, { viewport: { width: 1440, height: 900 }, colorScheme: 'light' })
  await desktop.waitForTimeout(STAY_MS)
  await desktop.screenshot({ path: join(FOLDER, 'console.png') })
  await goTo(desktop, `#/token/${token}`)
  await desktop.screenshot({ path: join(FOLDER, 'token.png'), fullPage: true })
  await takePhones(browser)
} finally {
  await browser.close()
}

async function logIn(on: Browser, visitor: Visitor): Promise<Page> {
  const page = await (await on.newContext({ locale: 'en-US', ...visitor })).newPage()
  await page.goto(url as string)
  await page.getByLabel('API key').fill(key as string)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('region', { name: 'Live prices' }).waitFor()
  return page
}

async function goTo(page: Page, hash: string): Promise<void> {
  await page.goto(new URL(hash, page.url()).href)
  await page.waitForLoadState('networkidle')
  await page.waitForTimeout(REST_MS)
}

/** Three pages of a phone beside each other. */
async function takePhones(on: Browser): Promise<void> {
  const phone = await logIn(on, PHONE)
  const pictures: string[] = []
  for (const hash of ['#/', `#/token/${token}`, '#/stream']) {
    await goTo(phone, hash)
    pictures.push((await phone.screenshot()).toString('base64'))
  }
  const sheet = await on.newPage()
  const images = pictures.map(each => `<img src="data:image/png;base64,${each}">`).join('')
  await sheet.setContent(`<body style="margin:0"><div style="display:inline-flex;gap:24px">${images}</div>`)
  await sheet.locator('div').screenshot({ path: join(FOLDER, 'phone.png'), omitBackground: true })
}
