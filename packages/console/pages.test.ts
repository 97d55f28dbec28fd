import type { Client } from '@assay/sdk'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CHAIN_ID } from '../server/endToEnd/testing/plan.ts'
import type { Hex, TestChain } from '../server/endToEnd/testing/testChain.ts'
import type { TestService } from '../server/endToEnd/testing/testService.ts'
import { buildConsole } from './build.ts'
import { type ConsolePage, logIn, PATIENT } from './testing/consolePage.ts'
import { RunningConsole } from './testing/runningConsole.ts'

let running: RunningConsole
let chain: TestChain
let service: TestService
let shown: ConsolePage
let moth: Hex
let pair: Hex
beforeAll(async () => {
  running = await RunningConsole.start(await buildConsole())
  ;({ chain, service } = running)
  moth = chain.token('MOTH')
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
})
afterAll(() => running?.close())
beforeEach(async () => {
  // While pages open on a slow machine its chain would otherwise stall, and every price be withdrawn.
  await service.untilWell()
  shown = await running.open()
})
afterEach(async () => {
  expect(shown.faults('401')).toEqual([])
  await shown.close()
})

const row = (symbol: string) => shown.page.locator(`[data-token="${CHAIN_ID}/${chain.token(symbol)}"]`)

/** The token with the fewest records: one, unless the chain stopped meanwhile and all were published again. */
async function tokenSeldomPriced(client: Client): Promise<string> {
  const { tokens } = await client.fetchTokens({ chain_id: CHAIN_ID })
  let least = { token: '', records: Number.POSITIVE_INFINITY }
  for (const { token_address, role, state } of tokens) {
    if (role !== 'TOKEN' || state !== 'PRICED') continue
    const { prices } = await client.fetchHistory({ chain_id: CHAIN_ID, token_address })
    if (prices.length < least.records) least = { token: token_address, records: prices.length }
  }
  return least.token
}

describe('log-in', () => {
  it('a wrong key is explained, a valid one logs in, and logging out ends the session', async () => {
    const { page } = shown
    await page.getByLabel('API key').fill('assay_nonsense')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('alert').filter({ hasText: 'This key is not valid here' }).waitFor()
    expect(await shown.seriousFindings()).toEqual([])
    const key = await service.key()
    await logIn(shown, key)
    // What was exchanged is nowhere to be found; the session survives a reload.
    expect(
      await page.evaluate(() =>
        JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]),
      ),
    ).not.toContain(key)
    expect(await page.evaluate(() => document.cookie)).toBe('')
    await page.reload()
    await page.getByRole('region', { name: 'Live prices' }).waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('API key').waitFor()
    await page.reload()
    await page.getByLabel('API key').waitFor()
  })

  it('a key that is revoked ends the session at once', async () => {
    const key = await service.key()
    await logIn(shown, key)
    await service.service.access.revoke(key.split('_')[1] as string, 'operator')
    await shown.page.getByText('The session has ended').waitFor(PATIENT)
  })
})

describe('overview', () => {
  it('shows chains, tokens and the stream rate, and updates a price as it changes', async () => {
    const { page } = shown
    await logIn(shown, await service.key())
    const card = page.getByRole('article', { name: 'Test chain' })
    // A chain without a block for a while is not: on a busy machine that may have been so by now.
    await chain.untilMining('a healthy chain', () => card.getByText('Healthy').isVisible())
    await page.getByRole('article', { name: 'Stream' }).getByText('records/s').waitFor()
    expect(await row('MOTH').textContent()).toMatch(/MOTH.*\$0\.0[34]\d+.*Medium|Low/)
    expect(await row('USDC').textContent()).toContain('$1.00')
    const before = await row('MOTH').locator('td').nth(2).textContent()
    await chain.run(chain.sellV2(pair, 'MOTH', 5000))
    await chain.untilMining('another price of MOTH', async () => {
      const now = await row('MOTH').locator('td').nth(2).textContent()
      return now !== before && now?.startsWith('$') === true
    })
    expect(await shown.seriousFindings()).toEqual([])
  })

  it('filters and sorts, also by keyboard', async () => {
    const { page } = shown
    await logIn(shown, await service.key())
    await page.getByLabel('Filter tokens').fill('lar')
    await expect.poll(() => page.locator('tr[data-token]').count(), PATIENT).toBe(1)
    await page.getByLabel('Filter tokens').fill('nothing like it')
    await page.getByText('No token matches.').waitFor()
    await page.getByLabel('Filter tokens').fill('')
    await page.getByRole('button', { name: 'Price, USD' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await page.locator('th[aria-sort="descending"]').waitFor()
    await expect.poll(() => page.locator('tr[data-token]').first().textContent(), PATIENT).toContain('WETH')
    await row('LARK').getByRole('link').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'LARK' }).waitFor()
    // The way back, and a reload, lead to the list as it was.
    await page.goBack()
    await page.locator('th[aria-sort="descending"]').waitFor()
    expect(new URL(page.url()).hash).toBe('#/?sort=-price')
    await page.reload()
    await page.locator('th[aria-sort="descending"]').waitFor()
  })

  it('shows the depth of every token and how its price moved, from one request per chain', async () => {
    const { page } = shown
    const asked: string[] = []
    page.on('request', request => asked.push(new URL(request.url()).pathname + new URL(request.url()).search))
    await logIn(shown, await service.key())
    await expect
      .poll(() => row('LARK').locator('td').nth(5).textContent(), PATIENT)
      .toMatch(/^\$[\d.]+[kM]?$/)
    await row('LARK').getByRole('img', { name: 'LARK, last day' }).waitFor(PATIENT)
    expect(asked.filter(path => path.includes('include=change'))).toHaveLength(1)
    expect(asked.filter(path => path.includes('/v1/history'))).toEqual([])
  })
})

describe('token', () => {
  it('shows the exact price, the weakest link, the history, the routes and their evidence', async () => {
    const { page } = shown
    await logIn(shown, await service.key())
    const client = await service.client()
    await shown.goTo(`#/token/${CHAIN_ID}/${chain.token('LARK')}`)
    const quote = await chain.untilMining('its price', async () => {
      const now = await client.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token('LARK') })
      return now.state === 'PRICED' && (await page.getByText('Weakest link:').isVisible()) && now
    })
    await page.getByText(quote.price_usd.display, { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Confidence' }).getByText('limits the score').first().waitFor()
    const graph = page.getByRole('region', { name: 'Route graph' })
    for (const hop of quote.routes.flatMap(({ hops }) => hops))
      expect(await graph.locator(`a[href="#/pool/${CHAIN_ID}/${hop.pool_address}"]`).count()).toBeGreaterThan(
        0,
      )
    const evidence = page.getByRole('region', { name: 'Evidence' })
    await evidence.locator('summary').first().click()
    await evidence.getByText('Simulated swap').first().waitFor()
    await page.getByRole('img', { name: /price of LARK/ }).waitFor()
    const sales = page.getByRole('region', { name: 'Sales' })
    await sales
      .getByRole('row', { name: /^\$1\.0k \$[\d.]+k? \$[\d.,]+ [+−]?[\d.]+% \d+ pools?/ })
      .waitFor(PATIENT)
    await page.getByRole('region', { name: 'Cost to move' }).getByRole('button', { name: 'Compute' }).click()
    await page.getByRole('region', { name: 'Moves' }).getByRole('row', { name: /^−10%/ }).waitFor(PATIENT)
    expect(await shown.seriousFindings()).toEqual([])
  })

  it('says whether it can be sold, at which taxes, what reverted and where, or why that is unknown', async () => {
    const { page } = shown
    // It opens pages faster than a person would.
    const limits = { units: 1e9, windowMs: 1000, burst: 1e9, streamConnections: 20, enrolmentsPerDay: 0 }
    const key = await service.key(['read', 'stream'], 'seller')
    await service.store.writeLimits('seller', JSON.stringify(limits))
    service.service.access.forget('seller')
    await logIn(shown, key)
    const panel = page.getByRole('region', { name: 'Sellability' })
    // LARK is probed by the service itself, in a pool on this chain.
    const client = await service.client()
    const lark = { chain_id: CHAIN_ID, token_address: chain.token('LARK') }
    await chain.untilMining('a probe of LARK', async () => {
      const quote = await client.quoteToken(lark)
      return quote.state !== 'PENDING' && quote.sellability?.status === 'SELLABLE'
    })
    await shown.goTo(`#/token/${CHAIN_ID}/${lark.token_address}`)
    await panel.getByText('Sellable', { exact: true }).waitFor()
    expect(await panel.textContent()).toMatch(
      /It was bought and sold without a tax\..*Purchase taxnone.*Sale taxnone.*Traded inpool 0x.*At block\d/,
    )
    expect(await shown.seriousFindings()).toEqual([])
    await shown.goTo(`#/token/${CHAIN_ID}/${chain.token('WETH')}`)
    await panel.getByText('Not probed: it is a stable or a routing asset').waitFor()

    let said: object | null | undefined = undefined
    await page.route(`**/v1/quote/token/**/${chain.token('LARK')}`, async route => {
      const answer = await route.fetch()
      const quote = (await answer.json()) as { sellability?: object }
      const { sellability, ...rest } = quote
      const found = said === undefined ? rest : { ...rest, sellability: said && { ...sellability, ...said } }
      await route.fulfill({ response: answer, json: found })
    })
    const taxes = { buy_tax_bps: 0, transfer_tax_bps: null, sell_tax_bps: 525 }
    for (const [found, text] of [
      [undefined, /Not known, because this price was published before sales were simulated/],
      [{ status: 'TAXED', ...taxes }, /Taxed.*at a tax\..*Purchase taxnone.*not measured.*Sale tax5\.25%/],
      [
        {
          status: 'UNSELLABLE',
          reason: 'SELL_REVERTED',
          revert: '\u202eevil <b>words</b>',
          sell_tax_bps: null,
        },
        /Unsellable.*not even in a later block: the sale reverted\..*RevertedSale: \u202eevil <b>words<\/b>/,
      ],
      [
        { status: 'UNKNOWN', reason: 'NO_PATH', method: null, pool_id: null, block_number: null },
        /Unknown.*Not known, because no verified pools lead/,
      ],
      [
        { status: 'UNKNOWN', reason: 'SELL_RESTRICTED' },
        /sales by others were seen.*RevertedSale, without words/,
      ],
      [{ status: 'SELLABLE', reason: 'SIZE_LIMITED' }, /without a tax, but one of the two sizes/],
      [{ status: 'SELLABLE', reason: 'A_LATER_REASON' }, /without a tax, but A_LATER_REASON/],
    ] as const) {
      said = found
      await shown.goTo('#/')
      await shown.goTo(`#/token/${CHAIN_ID}/${chain.token('LARK')}`)
      await expect.poll(() => panel.textContent(), PATIENT).toMatch(text)
      expect(await shown.seriousFindings()).toEqual([])
    }
  })

  it('that was priced once shows a line from then on, not an empty chart', async () => {
    const { page } = shown
    await logIn(shown, await service.key())
    const client = await service.client()
    await service.untilWell()
    const once = await tokenSeldomPriced(client)
    await shown.goTo(`#/token/${CHAIN_ID}/${once}`)
    const history = page.getByRole('region', { name: 'History' })
    // The axis spans the range that is chosen, so a minute is wide only in the shortest.
    await history.getByRole('button', { name: '15 min' }).click()
    const canvas = history.locator('canvas')
    const accent = await page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement('a'))
      const { color } = getComputedStyle(probe)
      probe.remove()
      return color
    })
    const columns = () =>
      canvas.evaluate((element, color) => {
        const { width, height } = element as HTMLCanvasElement
        const drawn = (element as HTMLCanvasElement).getContext('2d') as CanvasRenderingContext2D
        const { data } = drawn.getImageData(0, 0, width, height)
        const wanted = (color.match(/\d+/g) ?? []).slice(0, 3).join()
        const seen = new Set<number>()
        for (let at = 0; at < data.length; at += 4)
          if (data.subarray(at, at + 3).join() === wanted) seen.add((at / 4) % width)
        return seen.size
      }, accent)
    await expect.poll(columns, { timeout: 60_000, interval: 500 }).toBeGreaterThan(20)
  })

  it('is verified in the browser: every number is recomputed, and a tampered one is named', async () => {
    const { page } = shown
    await logIn(shown, await service.key())
    const loaded: string[] = []
    page.on('request', request => loaded.push(new URL(request.url()).pathname))
    await shown.goTo(`#/token/${CHAIN_ID}/${chain.token('LARK')}`)
    const panel = page.getByRole('region', { name: 'Verification' })
    await panel.waitFor()
    expect(loaded.filter(path => path.includes('verify'))).toEqual([])
    await panel.getByRole('button', { name: 'Verify in your browser' }).click()
    await panel.getByText('It verifies.').waitFor(PATIENT)
    expect(await panel.textContent()).toMatch(
      /\d{3} numbers follow .*Checked: the price 1\.\d+, the score \d/,
    )
    expect(loaded.filter(path => /\/verify-[\w-]+\.js$/.test(path))).toHaveLength(1)
    expect(await shown.seriousFindings()).toEqual([])

    await page.route('**/v1/quote/token/**', async route => {
      const answer = await route.fetch()
      const text = await answer.text()
      await route.fulfill({ response: answer, body: text.replace('"amount_out":"', '"amount_out":"9') })
    })
    await page.reload()
    await panel.getByRole('button', { name: 'Verify in your browser' }).click()
    await panel.getByRole('alert').getByText('It does not verify.').waitFor(PATIENT)
    expect(await panel.getByRole('alert').textContent()).toMatch(
      /routes\[\d+\]\.hops\[\d+\]\.\S+ is .*, and should be .*evidence\.amount_out/,
    )
    expect(await shown.seriousFindings()).toEqual([])
  })

  it('of an address without a token says so, and offers to try again', async () => {
    const { page } = shown
    await logIn(shown, await service.key())
    await shown.goTo(`#/token/${CHAIN_ID}/0x${'12'.repeat(20)}`)
    await page.getByRole('alert').getByText('There is no token at this address on this chain.').waitFor()
    expect(await page.getByRole('alert').textContent()).not.toMatch(/GET |\/v1\//)
    expect(await page.getByText('Pending').count()).toBe(0)
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    expect(shown.faults('404')).toEqual([])
    await shown.close()
    shown = await running.open()
  })
})

describe('pool', () => {
  it('shows its reserves, its depth both ways, its evidence and its events with their finality', async () => {
    const { page } = shown
    await chain.run(chain.sellV2(pair, 'USDT', 1000))
    await logIn(shown, await service.key())
    await shown.goTo(`#/pool/${CHAIN_ID}/${pair}`)
    await page.getByRole('heading', { level: 1, name: /MOTH \/ USDT|USDT \/ MOTH/ }).waitFor()
    expect(await page.getByRole('region', { name: 'State' }).textContent()).toMatch(/Holds.*MOTH/)
    expect(await page.getByRole('row', { name: /^Up/ }).textContent()).toMatch(
      /Up\$[\d.]+k?\$[\d.]+k?\$[\d.]+k?\$/,
    )
    await page.getByRole('region', { name: 'Evidence' }).getByText('Transaction').waitFor()
    const events = page.getByRole('region', { name: 'Recent events' })
    await events
      .getByRole('row', { name: /Swap.*USDT → .*MOTH.*(canonical|finalized).*receipts/ })
      .first()
      .waitFor(PATIENT)
    expect(await shown.seriousFindings()).toEqual([])
  })
})

describe('search', () => {
  it('finds a token and a pool by address and a token by symbol', async () => {
    const { page } = shown
    await logIn(shown, await service.key())
    const find = async (text: string) => {
      const box = page.getByRole('combobox', { name: 'Search by address' })
      await box.fill(text)
      // In the box itself: a page that is drawn again meanwhile may have taken the focus.
      await box.press('Enter')
    }
    await find(moth.toUpperCase().replace('0X', '0x'))
    await page.getByText('token on Test chain').waitFor()
    await find(pair)
    await page.getByText('pool of uniswap-v2 on Test chain').waitFor()
    await find('moth')
    await page.getByRole('main').getByRole('link', { name: 'MOTH' }).waitFor()
    // `/` leads to the search from anywhere; what is typed suggests tokens, which the arrows choose.
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('/')
    await page.keyboard.type('lar')
    await page.getByRole('option', { name: /LARK/ }).waitFor()
    expect(await shown.seriousFindings()).toEqual([])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'LARK' }).waitFor()
    await find(`0x${'34'.repeat(20)}`)
    await page.getByText('Nothing is known under this address').waitFor()
    expect(await shown.seriousFindings()).toEqual([])
  })
})

describe('stream', () => {
  it('tails, pauses, and resumes from its position without a gap', async () => {
    const { page } = shown
    await logIn(shown, await service.key())
    await page.getByRole('link', { name: 'Stream' }).click()
    await page.getByRole('region', { name: 'Live tail' }).getByRole('status').getByText('Live').waitFor()
    const sequences = async () =>
      (await page.locator('tr[data-type] td:first-child').allTextContents()).map(Number)
    // There is something to look at at once.
    await page.locator('tr[data-type]').first().waitFor()
    await service.untilWell()
    await chain.run(chain.sellV2(pair, 'MOTH', 2000))
    await page
      .getByRole('row', { name: /Swap .*Sell [\d,.]+ MOTH → [\d,.]+ USDT \$[\d,.]+/ })
      .first()
      .waitFor(PATIENT)
    await chain.untilMining(
      'a price in the tail',
      async () => (await page.locator('tr[data-type="PRICE_UPSERT"]').count()) > 0,
    )
    expect(await shown.seriousFindings()).toEqual([])
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused', { exact: true }).waitFor()
    const [last = 0] = await sequences()
    const block = await chain.run(chain.sellV2(pair, 'MOTH', 2000))
    await service.untilTip(block)
    expect((await sequences())[0]).toBe(last)
    await page.getByRole('button', { name: 'Resume' }).click()
    const missed = (await service.records(last)).map(record => record.stream_sequence)
    await expect
      .poll(async () => {
        const seen = new Set(await sequences())
        return missed.filter(sequence => !seen.has(sequence))
      }, PATIENT)
      .toEqual([])
    await page.getByText('replayed').waitFor()
    await page.getByLabel('Swap', { exact: true }).uncheck()
    await expect.poll(() => page.locator('tr[data-type="SWAP_OBSERVED"]').count(), PATIENT).toBe(0)
    await page.getByLabel('Replay after sequence').fill('0')
    await page.getByRole('button', { name: 'Replay' }).click()
    await expect.poll(async () => Math.min(...(await sequences())), PATIENT).toBeLessThan(last)
  })
})

describe('appearance', () => {
  it('follows the system’s dark mode, and the user’s setting', async () => {
    await shown.close()
    shown = await running.open({ colorScheme: 'dark' })
    const { page } = shown
    const lightness = () =>
      page.evaluate(() => {
        const [r = 0, g = 0, b = 0] =
          getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g)?.map(Number) ?? []
        return r + g + b
      })
    expect(await lightness()).toBeLessThan(150)
    await logIn(shown, await service.key())
    expect(await shown.seriousFindings()).toEqual([])
    await service.untilWell()
    await shown.goTo(`#/token/${CHAIN_ID}/${chain.token('LARK')}`)
    await page.getByRole('region', { name: 'Route graph' }).waitFor()
    expect(await shown.seriousFindings()).toEqual([])
    await page.getByLabel('Theme').selectOption('light')
    expect(await lightness()).toBeGreaterThan(600)
    await page.reload()
    await page.getByRole('region', { name: 'Route graph' }).waitFor()
    expect(await lightness()).toBeGreaterThan(600)
    await page.getByLabel('Theme').selectOption('dark')
    expect(await lightness()).toBeLessThan(150)
  })

  it('fits a narrow screen: no page scrolls sideways', async () => {
    await shown.close()
    shown = await running.open({ viewport: { width: 360, height: 740 } })
    const { page } = shown
    await logIn(shown, await service.key(['read', 'stream', 'admin']))
    await service.untilWell()
    for (const [hash, landmark] of [
      ['#/', 'Live prices'],
      [`#/token/${CHAIN_ID}/${chain.token('LARK')}`, 'Route graph'],
      [`#/pool/${CHAIN_ID}/${pair}`, 'Recent events'],
      ['#/stream', 'Live tail'],
      ['#/operations/keys', 'All keys'],
      ['#/operations/webhooks', 'Webhooks'],
      ['#/operations/health', 'Chains and endpoints'],
      ['#/operations/policy', 'Policy'],
      ['#/operations/incidents', 'Incidents'],
    ] as const) {
      await shown.goTo(hash)
      await page.getByRole('region', { name: landmark }).waitFor()
      const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
      expect([hash, ...widths]).toEqual([hash, 360, 360])
      expect(await shown.seriousFindings()).toEqual([])
    }
  })
})
