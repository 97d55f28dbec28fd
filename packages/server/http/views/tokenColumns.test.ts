import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApi, type TestApi } from '../../endToEnd/testing/testApi.ts'
import { StoppedClock } from '../../endToEnd/testing/testClock.ts'
import type { RecordDraft } from '../../store/port.ts'
import {
  address,
  commitOf,
  health,
  poolFacts,
  poolUpsert,
  tokenFacts,
  tokenUpsert,
} from '../../store/testing/drafts.ts'

const HOUR_MS = 3_600_000
const clock = new StoppedClock()
const NOW_MS = clock.nowMs()
const [PRICED, SILENT] = [address('priced'), address('silent')]

let api: TestApi
let key: string

/** A price of the token, published so many hours ago. */
function said(
  step: number,
  display: string,
  hoursAgo: number,
  expiresAtMs: number | null = null,
): RecordDraft {
  const draft = tokenUpsert({ chainId: 1, recordId: `r${step}` }, PRICED, display)
  const price_usd = { numerator: display, denominator: '1', display }
  const evaluated_at_ms = NOW_MS - hoursAgo * HOUR_MS
  return { ...draft, payload: { ...draft.payload, price_usd, evaluated_at_ms, expires_at_ms: expiresAtMs } }
}

beforeAll(async () => {
  api = await openTestApi({ clock })
  key = await api.key()
  const pool = poolFacts(0x100, PRICED, address('usd'))
  const records = [
    said(1, '2', 30),
    // Good for an hour only: there is no price from 9 hours ago until the next.
    said(2, '4', 10, NOW_MS - 9 * HOUR_MS),
    said(3, '5', 2.5),
    said(4, '8', 0.5),
  ]
  const alive: RecordDraft = {
    ...health(1, 'HEALTHY'),
    payload: { chain_id: 1, status: 'HEALTHY', reasons: [], updated_at_ms: NOW_MS },
  }
  for (const [at, record] of records.entries())
    await api.store.commit(
      commitOf(1, at + 1, {
        tokens: at === 0 ? [tokenFacts(PRICED), tokenFacts(SILENT)] : [],
        pools: at === 0 ? [pool] : [],
        records: at === 0 ? [poolUpsert({ chainId: 1, recordId: 'p' }, pool, 1), alive, record] : [record],
      }),
    )
})
afterAll(() => api?.close())

type Tokens = readonly { readonly token_address: string; readonly state: string }[]
const tokenIn = (tokens: Tokens, wanted: string): any =>
  tokens.find(({ token_address }) => token_address === wanted)

async function ask(query: string): Promise<{ readonly status: number; readonly body: any }> {
  const answer = await fetch(`${api.url}/v1/tokens?chain_id=1${query}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  return { status: answer.status, body: await answer.json() }
}

test('a list without include shows none of these columns', async () => {
  const { body } = await ask('')
  for (const token of body.tokens) expect(Object.keys(token)).not.toContain('change')
  expect(body.tokens).toHaveLength(2)
})

test('change is as in the quote, spark has a price for every hour, depth is that of all pools', async () => {
  // The node learns of a feed through its tail of the log.
  await expect.poll(async () => tokenIn((await ask('')).body.tokens, PRICED).state).toBe('PRICED')
  const { status, body } = await ask('&include=change,spark,depth')
  expect(status).toBe(200)
  const [priced, silent] = [tokenIn(body.tokens, PRICED), tokenIn(body.tokens, SILENT)]
  // Evaluated half an hour ago: an hour before that 5 stood, a day before that 2.
  expect(priced.change).toEqual({ h1_bps: 6000, h24_bps: 30_000 })
  const hours = Array.from({ length: 24 }, (_, at) => 23 - at)
  expect(priced.spark).toEqual(
    hours.map(ago => (ago > 10 ? '2' : ago === 10 ? '4' : ago > 2 ? null : ago >= 1 ? '5' : '8')),
  )
  expect(priced.depth_microusd).toMatch(/^[1-9][0-9]*$/)
  expect(silent).toMatchObject({ change: null, depth_microusd: null })
  expect(silent.spark).toEqual(hours.map(() => null))
})

test.each(['', 'change,change', 'volume', 'change,', 'change;depth'])('include=%j is refused', async text => {
  const { status, body } = await ask(`&include=${text}`)
  expect(status).toBe(400)
  expect(body.error).toMatch(
    /^include is .*; expected any of change, spark, depth, each once, separated by commas$/,
  )
})
