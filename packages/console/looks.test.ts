/**
 * Every page and state of the console at the widths of a desktop, a tablet and a phone, light and dark: axe finds nothing,
 * nothing moves by itself, nothing is wider than the screen. Pictures go to `.cache/looks`. In the tests two of the six
 * looks, as pages open; `npm run test:looks` takes all, and what a visitor opens on them too.
 */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Receiver } from '../server/webhooks/testing/receiver.ts'
import { CHAIN_ID, planWith, THIN } from '../server/endToEnd/testing/plan.ts'
import { buildConsole } from './build.ts'
import { type ConsolePage, logIn } from './testing/consolePage.ts'
import {
  faultsOf,
  type Look,
  picture,
  SCHEMES,
  settle,
  viewportOf,
  watchShifts,
  WIDTHS,
} from './testing/looks.ts'
import { RunningConsole } from './testing/runningConsole.ts'

const ARE_ALL = process.env['ASSAY_LOOKS'] === 'all'
const LOOKS: readonly Look[] = ARE_ALL
  ? WIDTHS.flatMap(width => SCHEMES.map(scheme => ({ width, scheme })))
  : [
      { width: 1440, scheme: 'light' },
      { width: 390, scheme: 'dark' },
    ]

let running: RunningConsole
let key: string
let pair: string
let receiver: Receiver
beforeAll(async () => {
  receiver = await Receiver.open()
  running = await RunningConsole.start(await buildConsole(), planWith(THIN))
  const { chain, service } = running
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  await service.untilTip(
    await chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDT', 'MOTH'), 'MOTH', 5000)),
  )
  key = await service.key(['read', 'stream', 'admin'], 'roomy')
  const limits = { units: 1e9, windowMs: 1000, burst: 1e9, streamConnections: 100, enrolmentsPerDay: 10 }
  await service.store.writeLimits('roomy', JSON.stringify(limits))
  service.service.access.forget('roomy')
})
afterAll(async () => {
  await running?.close()
  await receiver?.close()
})

const region = (name: string): string => `role=region[name="${name}"]`
const at = (symbol: string): string => `#/token/${CHAIN_ID}/${running.chain.token(symbol)}`

/** By name: where it is, and what shows that it is there. */
const pages = (): Readonly<Record<string, readonly [hash: string, ready: string]>> => ({
  overview: ['#/', 'tr[data-token] >> text=$'],
  token: [at('LARK'), region('Route graph')],
  'token-unpriced': [at('THIN'), 'role=heading[level=1]'],
  'token-stable': [at('USDC'), 'role=heading[level=1]'],
  'token-unknown': [`#/token/${CHAIN_ID}/0x${'12'.repeat(20)}`, 'role=alert'],
  pool: [`#/pool/${CHAIN_ID}/${pair}`, region('Recent events')],
  'pool-unknown': [`#/pool/${CHAIN_ID}/0x${'12'.repeat(20)}`, 'role=alert'],
  search: ['#/search/moth', 'role=main'],
  'search-nothing': [`#/search/0x${'34'.repeat(20)}`, 'text=Nothing is known'],
  stream: ['#/stream', 'tr[data-type]'],
  health: ['#/operations/health', region('Chains and endpoints')],
  keys: ['#/operations/keys', region('All keys')],
  policy: ['#/operations/policy', region('Policy')],
  incidents: ['#/operations/incidents', region('Incidents')],
  webhooks: ['#/operations/webhooks', region('Webhooks')],
  backfills: ['#/operations/backfill', 'role=main'],
  nowhere: ['#/nowhere', 'role=main'],
  audit: ['#/operations/audit', 'role=main'],
})

/** What a visitor opens: the page, and what he does there until something is shown. */
const opened = (): Readonly<Record<string, readonly [page: string, act: (page: Page) => Promise<void>]>> => ({
  'overview-suggestions': [
    'overview',
    async page => {
      await page.getByRole('combobox', { name: /^Search/ }).fill('u')
      await page.getByRole('option').first().waitFor()
    },
  ],
  'overview-no-match': [
    'overview',
    async page => {
      await page.getByLabel('Filter tokens').fill('nothing like this')
      await page.getByText('No token matches').waitFor()
    },
  ],
  'token-opened': [
    'token',
    async page => {
      await page.getByRole('button', { name: 'Verify in your browser' }).click()
      await page.getByText('It verifies.').waitFor()
      await page.getByRole('region', { name: 'Evidence' }).locator('summary').first().click()
      await page.getByRole('button', { name: 'Compute', exact: true }).click()
      await page.getByRole('region', { name: 'Moves' }).waitFor()
    },
  ],
  'token-week': [
    'token',
    async page => {
      await page.getByRole('button', { name: '7 d' }).click()
      await page.getByTestId('readout').getByText('close').waitFor()
    },
  ],
  'stream-paused': [
    'stream',
    async page => {
      await page.getByRole('button', { name: 'Pause' }).click()
      await page.getByText('Paused', { exact: true }).waitFor()
    },
  ],
  'health-asked': [
    'health',
    async page => {
      await page.getByRole('button', { name: 'Pause Test chain' }).click()
      await page.getByRole('button', { name: 'Cancel' }).waitFor()
    },
  ],
  'key-issued': [
    'keys',
    async page => {
      await page.getByLabel('Name', { exact: true }).fill('for the pictures')
      await page.getByRole('button', { name: 'Issue key' }).click()
      await page.getByText('It is shown this once').waitFor()
      const limits = page.getByRole('region', { name: 'Limits' })
      await limits.getByRole('textbox', { name: 'Consumer' }).fill('roomy')
      await limits.getByRole('button', { name: 'Look up' }).click()
      await limits.getByLabel('Burst').waitFor()
      await page.getByRole('button', { name: 'Revoke for the pictures' }).first().click()
    },
  ],
  'policy-tried': [
    'policy',
    async page => {
      await page.getByText('The policy in force').click()
      await page.getByLabel('Overrides').fill('{"min_depth_usd": 10000000}')
      await page.getByRole('button', { name: 'Dry run' }).click()
      await page.getByRole('region', { name: 'What would change' }).waitFor()
    },
  ],
  'policy-refused': [
    'policy',
    async page => {
      await page.getByLabel('Overrides').fill('{"min_depth_usd": -1}')
      await page.getByRole('button', { name: 'Dry run' }).click()
      await page.getByRole('alert').waitFor()
    },
  ],
  'webhook-opened': [
    'webhooks',
    async page => {
      const form = page.getByRole('form', { name: 'Register a webhook' })
      await form.getByLabel('Address').fill(receiver.url)
      await form.getByLabel('Token').fill('moth')
      await form.getByRole('textbox', { name: 'USD' }).fill('1')
      await form.getByRole('button', { name: 'Register' }).click()
      await page.getByText('It is shown this once').waitFor()
      await page.getByRole('button', { name: 'Send a test' }).click()
      await page.getByText('The test was delivered').waitFor()
    },
  ],
})

async function judge(page: Page, name: string, look: Look, isMoved = false): Promise<readonly string[]> {
  await picture(page, name, look)
  return (await faultsOf(page, isMoved)).map(fault => `${name}: ${fault}`)
}

describe.each(LOOKS)('at $width pixels, $scheme', look => {
  let shown: ConsolePage
  beforeAll(async () => {
    shown = await running.open({ viewport: viewportOf(look), colorScheme: look.scheme })
    await watchShifts(shown.page)
  })
  afterAll(() => shown?.close())

  it('the log-in, and every page behind it', async () => {
    const { page } = shown
    await page.reload()
    await page.getByLabel('API key').waitFor()
    const faults = [...(await judge(page, 'log-in', look))]
    await logIn(shown, key)
    for (const [name, [hash, ready]] of Object.entries(pages())) {
      // On a slow machine its chain would otherwise stall while the pages before it are judged.
      await running.service.untilWell()
      await settle(page, hash, ready)
      faults.push(...(await judge(page, name, look, name === 'stream')))
    }
    expect(faults).toEqual([])
  })

  // A skipped test would count as one that was not shown, so the short form does not have these.
  const inFull: typeof it | (() => void) = ARE_ALL ? it : () => {}

  inFull('what a visitor opens', async () => {
    const { page } = shown
    const faults: string[] = []
    for (const [name, [on, act]] of Object.entries(opened())) {
      await running.service.untilWell()
      const [hash, ready] = pages()[on] as readonly [string, string]
      await settle(page, hash, ready)
      await act(page)
      faults.push(...(await judge(page, name, look, true)))
    }
    expect(faults).toEqual([])
  })

  inFull('without a valid key, and without the scope for operations', async () => {
    const other = await running.open({ viewport: viewportOf(look), colorScheme: look.scheme })
    const { page } = other
    await page.getByLabel('API key').fill('assay_wrong')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('alert').waitFor()
    const faults = [...(await judge(page, 'log-in-refused', look, true))]
    await logIn(other, await running.service.key())
    await other.goTo('#/operations')
    await page.getByText('Log in with a key that has').waitFor()
    faults.push(...(await judge(page, 'operations-refused', look, true)))
    await other.close()
    expect(faults).toEqual([])
  })

  it('every page about a chain whose feed is down', async () => {
    const { page } = shown
    const admin = await running.service.client(['admin'])
    await admin.admin.pauseChain({ chain_id: CHAIN_ID })
    await running.service.untilSeen()
    const faults: string[] = []
    for (const name of ['overview', 'token', 'pool'] as const) {
      const [hash] = pages()[name] as readonly [string, string]
      await settle(page, hash, 'role=main')
      faults.push(...(await judge(page, `${name}-gone`, look)))
    }
    await admin.admin.resumeChain({ chain_id: CHAIN_ID })
    await running.service.untilWell()
    expect(faults).toEqual([])
  })

  it('the page of the API', async () => {
    const { page } = shown
    await page.goto(`${running.service.url}/docs`)
    await page.locator('main').first().waitFor()
    expect(await judge(page, 'docs', look)).toEqual([])
  })
})
