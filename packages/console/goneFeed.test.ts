/** A chain whose feed is silent: the console withholds its prices, shows the reason, and shows them again on recovery. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CHAIN_ID } from '../server/endToEnd/testing/plan.ts'
import { buildConsole } from './build.ts'
import { logIn, PATIENT } from './testing/consolePage.ts'
import { RunningConsole } from './testing/runningConsole.ts'

/** A feed is silent half a minute after its last report; the rest is for slow machines. */
const SILENT_WITHIN = { timeout: 90_000 } as const

let running: RunningConsole
beforeAll(async () => {
  running = await RunningConsole.start(await buildConsole())
})
afterAll(() => running?.close())

const change = (sql: string): void => {
  const database = new DatabaseSync(join(running.chain.folder, 'assay.db'), { timeout: 5_000 })
  database.exec(`BEGIN IMMEDIATE; ${sql}; COMMIT`)
  database.close()
}
/** The worker's next commit conflicts with what is stored, and no start can read its state. */
const stopWorker = () => change(`UPDATE position SET step = step + 100; UPDATE entity SET text = '!' || text`)
const repairWorker = () =>
  change(`UPDATE position SET step = step - 100; UPDATE entity SET text = substr(text, 2)`)

it('hides the prices of a chain whose feed is silent, names the chain and the reason, and shows them again on recovery', async () => {
  const { chain } = running
  const shown = await running.open()
  await logIn(shown, await running.service.key())
  const { page } = shown
  const moth = chain.token('MOTH')
  const row = page.locator(`[data-token="${CHAIN_ID}/${moth}"]`)
  const price = () => row.locator('td:nth-child(3)').textContent()
  await chain.untilMining('a price', async () => (await price())?.startsWith('$'))
  const banner = page.getByTestId('gone-feeds')
  expect(await banner.count()).toBe(0)

  stopWorker()
  await chain.mine()
  await expect.poll(price, SILENT_WITHIN).toBe('–')
  expect(await row.textContent()).toContain('No feed')
  expect(await banner.textContent()).toContain('it has been silent for more than 30 seconds')
  const name = await page.locator(`article[data-chain="${CHAIN_ID}"] h2`).textContent()
  expect(await banner.locator('strong').textContent()).toBe(name)
  expect(await page.locator(`article[data-chain="${CHAIN_ID}"]`).textContent()).toContain('Unavailable')
  expect(await shown.seriousFindings()).toEqual([])

  await row.locator('a').click()
  await page.getByText('Unpriced', { exact: true }).waitFor(PATIENT)
  await page.getByText('the chain cannot be followed right now').waitFor(PATIENT)
  await page.getByText('at score').waitFor(PATIENT)
  expect(await banner.count()).toBe(1)
  expect(await shown.seriousFindings()).toEqual([])

  repairWorker()
  await chain.untilMining('its price again', async () => (await page.getByTestId('price').count()) === 1)
  await chain.untilMining('nothing to report', async () => (await banner.count()) === 0)
  await shown.goTo('#/')
  await expect.poll(price, PATIENT).toMatch(/^\$/)
  // A quote that is asked for while no worker runs may be refused.
  expect(shown.faults('Failed to load resource')).toEqual([])
  await shown.close()
}, 240_000)
