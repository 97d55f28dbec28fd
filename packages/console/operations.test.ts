import { createClient } from '@assay/sdk'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { TestChain } from '../server/endToEnd/testing/testChain.ts'
import type { TestService } from '../server/endToEnd/testing/testService.ts'
import { MANNERS, Receiver } from '../server/webhooks/testing/receiver.ts'
import { buildConsole } from './build.ts'
import { type ConsolePage, logIn, PATIENT } from './testing/consolePage.ts'
import { RunningConsole } from './testing/runningConsole.ts'

let running: RunningConsole
let chain: TestChain
let service: TestService
let shown: ConsolePage
beforeAll(async () => {
  running = await RunningConsole.start(await buildConsole())
  ;({ chain, service } = running)
})
afterAll(() => running?.close())
beforeEach(async () => {
  shown = await running.open()
})
afterEach(() => shown.close())

type Tab = 'Health' | 'Keys' | 'Webhooks' | 'Policy' | 'Incidents' | 'Back-fill' | 'Audit'
const asOperator = async (tab: Tab) => {
  await logIn(shown, await service.key(['read', 'stream', 'admin']))
  await shown.page.getByRole('link', { name: 'Operations' }).click()
  await goTo(tab)
}
const goTo = (tab: Tab) =>
  shown.page.getByRole('navigation', { name: 'Operations' }).getByRole('link', { name: tab }).click()

it('without the admin scope there is no link to operations, and its address says why', async () => {
  await logIn(shown, await service.key())
  expect(await shown.page.getByRole('link', { name: 'Operations' }).count()).toBe(0)
  await shown.goTo('#/operations')
  await shown.page.getByText('Log in with a key that has').waitFor()
  expect(shown.faults()).toEqual([])
})

it('a key is issued, shown once, works, and ends when it is revoked; the audit log has both', async () => {
  const { page } = shown
  await asOperator('Keys')
  await page.getByRole('region', { name: 'All keys' }).waitFor()
  expect(await shown.seriousFindings()).toEqual([])
  await page.getByLabel('Name', { exact: true }).fill('for the test')
  await page.getByRole('button', { name: 'Issue key' }).click()
  const key = await page.locator('.note.ok code').textContent()
  const client = createClient({ baseUrl: service.url, apiKey: key ?? '' })
  expect((await client.fetchChains()).chains).toHaveLength(1)
  await page.getByRole('button', { name: 'Done' }).click()
  expect(await page.content()).not.toContain(key)
  await page.getByRole('button', { name: 'Revoke for the test' }).click()
  await page.getByRole('button', { name: 'Revoke for the test now' }).click()
  await page.getByRole('row', { name: /for the test.*revoked/ }).waitFor()
  await expect(client.fetchChains()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  await goTo('Audit')
  const audit = page.getByRole('region', { name: 'Changes' })
  await audit.getByText('key.revoke').waitFor()
  await audit.getByText('key.issue').first().waitFor()
  expect(shown.faults()).toEqual([])
})

it('at the width of a tablet the list of keys fits, also while the longest name is confirmed', async () => {
  const { page } = shown
  await page.setViewportSize({ width: 1024, height: 768 })
  await asOperator('Keys')
  const name = `${'a long name of a key '.repeat(3)}x`
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByRole('button', { name: 'Issue key' }).click()
  await page.getByRole('button', { name: `Revoke ${name}` }).click()
  await page.getByRole('button', { name: `Revoke ${name} now` }).waitFor()
  const hidden = await page
    .getByRole('region', { name: 'All keys' })
    .evaluate(region => region.scrollWidth - region.clientWidth)
  expect(hidden).toBe(0)
})

it('a policy is tried before it applies: the dry run lists what would change and changes nothing', async () => {
  const { page } = shown
  await asOperator('Policy')
  const client = await service.client(['read', 'admin'])
  const before = (await client.admin.fetchPolicy()).policy_version
  const overrides = page.getByLabel('Overrides')
  await overrides.fill('not json')
  await page.getByRole('button', { name: 'Dry run' }).click()
  await page.getByText('The overrides are not JSON').waitFor()
  await overrides.fill('{"min_depth_usd": -1}')
  await page.getByRole('button', { name: 'Dry run' }).click()
  await page.getByRole('alert').getByText('min_depth_usd').waitFor()
  await overrides.fill('{"min_depth_usd": 10000000}')
  expect(await page.getByRole('button', { name: 'Put in force' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Dry run' }).click()
  const diff = page.getByRole('region', { name: 'What would change' })
  await diff.getByRole('row', { name: /LARK.*\$1\.\d+.*(No route|Anchor unpriced)/ }).waitFor()
  expect((await client.admin.fetchPolicy()).policy_version).toBe(before)
  expect(await shown.seriousFindings()).toEqual([])
  await page.getByRole('button', { name: 'Put in force' }).click()
  await page.getByText('In force:').waitFor()
  expect((await client.admin.fetchPolicy()).policy).toMatchObject({ min_depth_usd: 10_000_000 })
  await goTo('Audit')
  await page.getByRole('region', { name: 'Changes' }).getByText('policy.set').waitFor()
  await goTo('Policy')
  await overrides.fill('{}')
  await page.getByRole('button', { name: 'Dry run' }).click()
  await page.getByRole('button', { name: 'Put in force' }).click()
  await expect.poll(async () => (await client.admin.fetchPolicy()).policy_version, PATIENT).toBe(before)
  // The browser reports the refused request too.
  expect(shown.faults('400')).toEqual([])
})

it('limits of a consumer are shown and changed', async () => {
  const { page } = shown
  await asOperator('Keys')
  await service.key(['read'], 'limited')
  const of = page.getByRole('region', { name: 'Limits' })
  await of.getByRole('textbox', { name: 'Consumer' }).fill('nobody')
  await page.getByRole('button', { name: 'Look up' }).click()
  await page.getByText('there is no consumer').waitFor()
  await of.getByRole('textbox', { name: 'Consumer' }).fill('limited')
  await page.getByRole('button', { name: 'Look up' }).click()
  await page.getByLabel('Burst').fill('7')
  await page.getByRole('button', { name: 'Set limits' }).click()
  await page.getByText('In force.').waitFor()
  const client = await service.client(['read', 'admin'])
  expect((await client.admin.fetchConsumer('limited')).limits).toMatchObject({ burst: 7, units: 600 })
  expect(await shown.seriousFindings()).toEqual([])
  expect(shown.faults('404')).toEqual([])
})

it('a back-fill of a chain runs, and its progress is shown', async () => {
  const { page } = shown
  await asOperator('Back-fill')
  await page.getByRole('button', { name: 'Scan past blocks' }).click()
  await chain.untilMining('the scan done', () =>
    page
      .getByRole('region', { name: 'Scans' })
      .getByRole('row', { name: /Test chain.*Done/ })
      .isVisible(),
  )
  expect(await shown.seriousFindings()).toEqual([])
  expect(shown.faults()).toEqual([])
})

it('a webhook is registered, tested, parked, resumed, replayed, given another secret and deleted', async () => {
  const { page } = shown
  const receiver = await Receiver.open()
  await asOperator('Webhooks')
  await page.getByText('No webhooks yet.').waitFor()
  const form = page.getByRole('form', { name: 'Register a webhook' })
  const register = async (url: string, token: string, percent: string) => {
    await form.getByLabel('Address').fill(url)
    await form.getByLabel('Call it when').selectOption('price_moves')
    await form.getByLabel('Token').fill(token)
    await form.getByRole('textbox', { name: 'Percent' }).fill(percent)
    await form.getByRole('button', { name: 'Register' }).click()
  }
  for (const [url, token, percent, fault] of [
    [receiver.url, 'NOSUCH', '1', 'No token of Test chain has the symbol "NOSUCH"'],
    [receiver.url, 'MOTH', '0.001', 'The percentage is "0.001"; expected a value above 0'],
    ['http://10.0.0.1/', 'MOTH', '1', 'url may not be called: 10.0.0.1 is not on the public internet'],
  ] as const) {
    await register(url, token, percent)
    await page.getByRole('alert').getByText(fault).waitFor()
  }
  await register(receiver.url, 'moth', '0.01')
  const secretShown = page.locator('.note.ok code')
  receiver.secret = (await secretShown.textContent()) ?? ''
  expect(receiver.secret).toMatch(/^whsec_/)
  await page.getByRole('button', { name: 'Done' }).click()
  expect(await page.content()).not.toContain(receiver.secret)
  const panel = page.getByRole('region', { name: 'Webhook price_moves' })
  expect(await panel.textContent()).toContain('MOTH on Test chain moves by 0.01%')
  // The address may hold a token of the receiver's: it is in the panel alone.
  expect(await page.getByRole('region', { name: 'All webhooks' }).textContent()).not.toContain('hook?a=1')
  expect(await shown.seriousFindings()).toEqual([])

  await panel.getByRole('button', { name: 'Send a test' }).click()
  await panel.getByText('The test was delivered: status 204.').waitFor()
  const deliveries = panel.getByRole('region', { name: 'Deliveries' })
  const sell = () => chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDT', 'MOTH'), 'MOTH', 5000))
  await sell()
  await chain.untilMining('a delivery', () =>
    deliveries
      .getByRole('row', { name: /Delivered 1 .* status 204/ })
      .first()
      .isVisible(),
  )
  expect(receiver.bodies().map(({ type }) => type)).toContain('price.moved')

  receiver.manner = () => answer => void answer.writeHead(410).end()
  await sell()
  await chain.untilMining('a parked webhook', () => panel.getByText('Parked', { exact: true }).isVisible())
  await panel.getByText('the receiver returned 410').first().waitFor()
  expect(await shown.seriousFindings()).toEqual([])
  receiver.manner = () => MANNERS.well
  await panel.getByRole('button', { name: 'Resume' }).click()
  await panel.getByText('Active', { exact: true }).waitFor()
  await panel.getByRole('button', { name: 'Pause' }).click()
  await panel.getByText('Paused', { exact: true }).waitFor()
  await panel.getByRole('button', { name: 'Resume' }).click()
  await expect.poll(() => panel.getByText('Pending').count(), PATIENT).toBe(0)

  const [first = ''] = receiver.ids.filter(id => !id.includes('test'))
  const times = () => receiver.received.filter(({ id }) => id === first).length
  const before = times()
  await panel.getByLabel('Match again after record').fill('0')
  await panel.getByRole('button', { name: 'Replay' }).click()
  await panel.getByRole('button', { name: 'Match the log again after 0' }).click()
  await expect.poll(times, PATIENT).toBeGreaterThan(before)

  await panel.getByRole('button', { name: 'Rotate secret' }).click()
  await panel.getByRole('button', { name: 'Create a new secret' }).click()
  await expect.poll(() => secretShown.textContent(), PATIENT).toMatch(/^whsec_/)
  expect(await secretShown.textContent()).not.toBe(receiver.secret)
  await panel.getByText('signs too until').waitFor()
  // A link to it, and a reload, show the same webhook.
  await page.reload()
  await panel.getByRole('button', { name: 'Delete' }).click()
  await panel.getByRole('button', { name: 'Cancel' }).click()
  await panel.getByRole('button', { name: 'Delete' }).click()
  await panel.getByRole('button', { name: 'Delete price_moves, with its deliveries' }).click()
  await page.getByText('No webhooks yet.').waitFor()
  await goTo('Audit')
  const audit = page.getByRole('region', { name: 'Changes' })
  for (const action of ['create', 'pause', 'resume', 'replay', 'rotate', 'delete'])
    await audit.getByText(`webhook.${action}`).first().waitFor()
  expect(receiver.forged).toEqual([])
  await receiver.close()
  expect(shown.faults('400')).toEqual([])
})

it('a chain is paused and resumed, and its health says so', async () => {
  const { page } = shown
  await asOperator('Health')
  await page.getByRole('button', { name: 'Pause Test chain' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Pause Test chain' }).click()
  await page.getByRole('button', { name: 'Withdraw all prices of Test chain' }).click()
  await chain.untilMining('the chain paused', () =>
    page.getByRole('button', { name: 'Resume Test chain' }).isVisible(),
  )
  await page.getByRole('button', { name: 'Resume Test chain' }).click()
  await chain.untilMining('the chain resumed', () =>
    page.getByRole('button', { name: 'Pause Test chain' }).isVisible(),
  )
  expect(shown.faults()).toEqual([])
})

it('in a local world a button causes an incident, and its outcome is shown', async () => {
  const { page } = shown
  await asOperator('Incidents')
  const incidents = page.getByRole('region', { name: 'Incidents' })
  await incidents.getByRole('button', { name: 'End chain-halt' }).waitFor()
  await incidents.getByLabel('Token').selectOption('LARK')
  await incidents.getByRole('button', { name: 'Rug', exact: true }).click()
  const caused = incidents.getByRole('region', { name: 'What was caused' })
  await caused.getByText('Done').waitFor(PATIENT)
  await caused.getByRole('link', { name: /pool/ }).first().waitFor()
  expect(await shown.seriousFindings()).toEqual([])
  await goTo('Audit')
  await page.getByRole('region', { name: 'Audit log' }).getByText('incident.cause').waitFor()
  expect(await shown.seriousFindings()).toEqual([])
  expect(shown.faults()).toEqual([])
})
