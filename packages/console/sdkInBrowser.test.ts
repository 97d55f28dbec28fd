/** The SDK's page and the stream itself in a browser: Chromium's own WebSocket and EventSource, which nobody here wrote. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHAIN_ID } from '../server/endToEnd/testing/plan.ts'
import type { TestChain } from '../server/endToEnd/testing/testChain.ts'
import type { TestService } from '../server/endToEnd/testing/testService.ts'
import { type ConsolePage, PATIENT } from './testing/consolePage.ts'
import { RunningConsole } from './testing/runningConsole.ts'

const EXAMPLE = resolve(import.meta.dirname, '../sdk/examples/browser')

let running: RunningConsole
let chain: TestChain
let service: TestService
let folder: string
let shown: ConsolePage
let page: Page
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-example-'))
  await build({
    configFile: false,
    root: EXAMPLE,
    base: './',
    logLevel: 'warn',
    build: { outDir: folder, emptyOutDir: true, modulePreload: { polyfill: false } },
  })
  running = await RunningConsole.start(folder)
  ;({ chain, service } = running)
  shown = await running.open()
  page = shown.page
})
afterAll(async () => {
  await running?.close()
  rmSync(folder, { recursive: true, force: true })
})

const textOf = (id: string) => () => page.locator(`#${id}`).textContent()
const sell = async () =>
  service.untilTip(await chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDC', 'LARK'), 'LARK', 900)))

it('the example page: key to session, snapshot to live, a price update, and verified in the browser', async () => {
  await page.getByLabel('Key').fill(await service.key())
  await page.getByLabel('Chain').fill(`${CHAIN_ID}`)
  await page.getByLabel('Token').fill(chain.token('LARK'))
  await page.getByRole('button', { name: 'Follow' }).click()
  await expect.poll(textOf('price'), PATIENT).toMatch(/^1\.\d+ USD, confidence \d+$/)
  const before = await textOf('price')()
  await sell()
  await expect.poll(textOf('status'), PATIENT).toBe('live')
  await expect.poll(textOf('price'), PATIENT).not.toBe(before)
  await expect.poll(textOf('health'), PATIENT).toMatch(/^(HEALTHY|DEGRADED)$/)
  await page.getByRole('button', { name: 'Verify' }).click()
  await expect.poll(textOf('verdict'), PATIENT).toMatch(/^verified: [1-9]\d{2,} numbers$/)
  expect(shown.faults()).toEqual([])
})

type Heard = { readonly messages: readonly string[]; readonly code: number; readonly reason: string }

/** Chromium's WebSocket, with the session's cookie: one frame, then so many messages or the end. */
const subscribe = (frame: string, wanted: number): Promise<Heard> =>
  page.evaluate(
    ([text, count]) =>
      new Promise<Heard>(resolve => {
        const messages: string[] = []
        const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/v1/stream`)
        socket.addEventListener('open', () => socket.send(text))
        socket.addEventListener('message', ({ data }) => {
          messages.push(String(data))
          if (messages.length === count) socket.close(1000)
        })
        socket.addEventListener('close', ({ code, reason }) => resolve({ messages, code, reason }))
      }),
    [frame, wanted] as const,
  )
const frameOf = (cursor: string | null, filter: object = {}): string =>
  JSON.stringify({
    filter: { chain_ids: [CHAIN_ID], pool_ids: [], token_ids: [], ...filter },
    resume_cursor: cursor,
  })
const cursorAfter = (sequence: number): Promise<string> =>
  page.evaluate(async path => {
    const answer = await fetch(path, { method: 'POST' })
    return ((await answer.json()) as { resume_cursor: string }).resume_cursor
  }, `/v1/session?chain_id=${CHAIN_ID}&snapshot_sequence=${sequence}`)

describe('Chromium as a client of the stream', () => {
  it('R-stream-1, R-stream-5: with the cookie: replays from a cursor, record for record as in the log', async () => {
    const log = (await service.records()).slice(0, 20)
    const { messages, code } = await subscribe(frameOf(await cursorAfter(0)), 20)
    expect(messages.map(each => JSON.parse(each) as unknown)).toEqual(log)
    expect(code).toBe(1000)
  })

  it('R-stream-4: an invalid cursor is RESET_REQUIRED and 1000', async () => {
    const { messages, code, reason } = await subscribe(frameOf('nonsense'), 99)
    expect([messages.length, code, reason]).toEqual([1, 1000, 'INVALID_CURSOR'])
    expect(JSON.parse(messages[0] ?? '')).toMatchObject({
      type: 'RESET_REQUIRED',
      payload: { reason: 'INVALID_CURSOR' },
    })
  })

  it('R-stream-1: an invalid frame is 1008 with its reason', async () => {
    const { code, reason } = await subscribe(frameOf(null, { chain_ids: [4] }), 1)
    expect([code, reason]).toEqual([1008, 'filter.chain_ids[0] is not a served chain'])
  })

  it('R-stream-8: EventSource receives the same records, in order', async () => {
    const wanted = (await service.records()).map(each => each.stream_sequence).slice(0, 30)
    const cursor = await cursorAfter(0)
    const heard = await page.evaluate(
      ([path, count]) =>
        new Promise<number[]>((resolve, reject) => {
          const sequences: number[] = []
          const source = new EventSource(path)
          for (const type of ['PRICE_UPSERT', 'PRICE_RETRACT', 'SWAP_OBSERVED', 'FEED_HEALTH'])
            source.addEventListener(type, event => {
              sequences.push(
                (JSON.parse((event as MessageEvent<string>).data) as { stream_sequence: number })
                  .stream_sequence,
              )
              if (sequences.length < count) return
              source.close()
              resolve(sequences)
            })
          source.addEventListener('RESET_REQUIRED', () => reject(new Error('reset')))
        }),
      [`/v1/stream/sse?chain_ids=${CHAIN_ID}&cursor=${cursor}`, wanted.length] as const,
    )
    expect(heard.slice(0, wanted.length)).toEqual(wanted)
  })
})
