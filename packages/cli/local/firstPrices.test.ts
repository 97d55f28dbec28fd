import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { untilPriced } from './firstPrices.ts'

type Answer = { readonly status?: number; readonly body: object }

const health = (status: string, reasons: readonly string[], lag_blocks: number | null) => ({
  status,
  reasons,
  lag_blocks,
})
const HEALTHY = health('HEALTHY', [], 0)
const chains = (...all: readonly (readonly [number, object])[]): Answer => ({
  body: { chains: all.map(([chain_id, state]) => ({ chain_id, health: state })) },
})
const priced = (state: string): Answer => ({ body: { tokens: [{ role: 'TOKEN', state }] } })

/** A service that gives these answers in order, and the last one again and again. */
async function serving(answers: { readonly chains: Answer[]; readonly tokens: Answer[] }): Promise<string> {
  const server = createServer(({ url }, response) => {
    const list = url === '/v1/chains' ? answers.chains : answers.tokens
    const { status = 200, body } = (list.length > 1 ? list.shift() : list[0]) as Answer
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('says which chains it is waiting for and why, until each has a price', async () => {
  const url = await serving({
    chains: [
      chains([1, health('UNAVAILABLE', ['WORKER_SILENT'], null)], [56, health('GAP', ['BEHIND'], 40)]),
      chains([1, HEALTHY], [56, health('GAP', ['BEHIND'], 3)]),
      chains([1, HEALTHY], [56, HEALTHY]),
    ],
    tokens: [priced('PRICED'), priced('UNPRICED'), priced('PRICED')],
  })
  const said: string[] = []
  expect(await untilPriced(url, 'key', words => said.push(words))).toBeNull()
  expect(said).toEqual([
    '0 of 2 chains have prices, waiting for 1 (no report yet), 56 (GAP: BEHIND, 40 blocks to go)',
    '1 of 2 chains have prices, waiting for 56 (GAP: BEHIND, 3 blocks to go)',
    '1 of 2 chains have prices, waiting for 56 (reading its pools)',
  ])
})

it('continues when the quota of the key is spent, and stops when the key is invalid', async () => {
  const refused = (status: number, code: string): Answer => ({ status, body: { error: { code } } })
  const busy = { chains: [refused(429, 'RATE_LIMITED'), chains([1, HEALTHY])], tokens: [priced('PRICED')] }
  expect(await untilPriced(await serving(busy), 'key', () => undefined)).toBeNull()
  const closed = { chains: [refused(401, 'UNAUTHENTICATED')], tokens: [] }
  await expect(untilPriced(await serving(closed), 'key', () => undefined)).rejects.toMatchObject({
    status: 401,
  })
})

it('names the chains that have no price when it stops waiting', async () => {
  const url = await serving({ chains: [chains([137, HEALTHY])], tokens: [priced('UNPRICED')] })
  expect(await untilPriced(url, 'key', () => undefined, 0)).toBe(
    `After 0 s 0 of 1 chains have prices, waiting for 137 (reading its pools). Details: ${url}/v1/chains`,
  )
})
