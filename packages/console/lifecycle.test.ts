import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CHAIN_ID } from '../server/endToEnd/testing/plan.ts'
import { isTokenRetract, isTokenUpsert } from '../server/endToEnd/testing/record.ts'
import type { Hex, TestChain } from '../server/endToEnd/testing/testChain.ts'
import { buildConsole } from './build.ts'
import { type ConsolePage, logIn, PATIENT } from './testing/consolePage.ts'
import { RunningConsole } from './testing/runningConsole.ts'

let running: RunningConsole
let chain: TestChain
let shown: ConsolePage
let pair: Hex
let moth: Hex
beforeAll(async () => {
  running = await RunningConsole.start(await buildConsole())
  chain = running.chain
  moth = chain.token('MOTH')
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
})
afterAll(() => running?.close())
beforeEach(async () => {
  // While pages open on a slow machine its chain would otherwise stall, and every price be withdrawn.
  await running.service.untilWell()
  shown = await running.open()
  await logIn(shown, await running.service.key())
})
afterEach(() => shown.close())

const priceShown = () =>
  shown.page.locator(`[data-token="${CHAIN_ID}/${moth}"] td:nth-child(3)`).textContent()

/** How the page of a token says how often its price was taken back. */
const wordsOf = (times: number): string =>
  times === 0 ? 'Nothing was taken back.' : times === 1 ? 'Taken back once' : `Taken back ${times} times`

describe('a reorganisation', () => {
  it('is shown as a withdrawn price: in the overview, live in the history, and after a reload', async () => {
    const { page } = shown
    const takenBack = async () => (await running.service.records()).filter(isTokenRetract(moth)).length
    await running.service.untilWell()
    const before = await takenBack()
    const after = await running.service.head()
    await chain.run(chain.sellV2(pair, 'MOTH', 4000))
    await running.service.untilRecord('the price', after, isTokenUpsert(moth))
    await page.locator(`[data-token="${CHAIN_ID}/${moth}"] a`).click()
    await page.getByText(wordsOf(before)).waitFor(PATIENT)
    await chain.reorg(1)
    await running.service.untilRecord('the retraction', after, isTokenRetract(moth))
    await page.getByText(wordsOf(await takenBack())).waitFor(PATIENT)
    await page.getByRole('region', { name: 'History' }).getByText('Reorg').waitFor()
    await shown.goTo('#/')
    await page.locator(`[data-token="${CHAIN_ID}/${moth}"]`).getByText('Reorg').waitFor()
    await shown.goTo(`#/token/${CHAIN_ID}/${moth}`)
    await page.reload()
    await page.getByText(wordsOf(await takenBack())).waitFor(PATIENT)
    // What was withdrawn, what holds instead, and by how much they differ.
    await page
      .getByText(/\$0\.0\d+ \(score \d+\) withdrawn, \$0\.0\d+ instead, [+−]?\d+\.\d\d%, at block \d+/)
      .waitFor()
    expect(shown.faults()).toEqual([])
  })
})

describe('a restart of the service', () => {
  it('is announced and waited for; the stream resumes where it stopped, without another log-in', async () => {
    const { page } = shown
    const state = () => page.getByRole('banner').getByRole('status').textContent()
    const before = await priceShown()
    await running.restart(async () => {
      await expect.poll(state, PATIENT).toBe('Reconnecting')
      await chain.run(chain.sellV2(pair, 'MOTH', 6000))
    })
    await chain.untilMining('connected again', async () => (await state()) === 'Live')
    await chain.untilMining('the price of the trade made while disconnected', async () => {
      const now = await priceShown()
      return now !== before && now?.startsWith('$') === true
    })
    // What failed while there was no service is allowed to have failed.
    expect(shown.faults('ERR_CONNECTION', 'WebSocket', 'Failed to load resource')).toEqual([])
  })
})

describe('a token whose liquidity is pulled', () => {
  it('is shown as unpriced with its reason, its candidates, and what they are missing', async () => {
    const { page } = shown
    await chain.run(await chain.pullV2(pair, 999n))
    await chain.untilMining('MOTH unpriced in the overview', async () => (await priceShown()) === '–')
    expect(await page.locator(`[data-token="${CHAIN_ID}/${moth}"]`).textContent()).toContain('No route')
    await shown.goTo(`#/token/${CHAIN_ID}/${moth}`)
    await page.getByText('Unpriced', { exact: true }).waitFor()
    const candidates = page.getByRole('region', { name: 'Candidates' })
    await candidates
      .getByText(/needs \$50/)
      .first()
      .waitFor()
    await candidates.locator('.edge.rejected').first().waitFor()
    expect(await shown.seriousFindings()).toEqual([])
    expect(shown.faults()).toEqual([])
  })
})
