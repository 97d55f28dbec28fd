/** The feed for TradingView's charts over HTTP and a real store: bars, their volume, and what a chart needs around them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, ask } from '../../../endToEnd/testing/answer.ts'
import { openTestApi, type TestApi } from '../../../endToEnd/testing/testApi.ts'
import { address, type CommitParts, commitOf, health, tokenFacts } from '../../../store/testing/drafts.ts'
import { CHAIN, DAY_MS, followed, marketWith, NOW_MS, said, swapAt, TOKEN, UNIT } from '../testing/market.ts'

const SYMBOL = `${CHAIN}:${TOKEN.tokenAddress}`
const DAY_S = DAY_MS / 1000

let api: TestApi
let key: string
let step: number
beforeEach(async () => {
  api = await openTestApi({ clock: { nowMs: () => NOW_MS, monotonicMs: () => performance.now() } })
  key = await api.key(['read'])
  step = 0
})
afterEach(() => api?.close())

async function commit(...steps: readonly CommitParts[]): Promise<void> {
  for (const parts of steps) {
    step += 1
    const outcome = await api.store.commit(commitOf(CHAIN, step, parts))
    expect(outcome.outcome).toBe('committed')
  }
}
const get = (path: string): Promise<Answer> => ask(`${api.url}/compat/udf${path}`, { key })
const history = (query: Readonly<Record<string, string | number>>): Promise<Answer> => {
  const words = { symbol: SYMBOL, resolution: '1D', from: 0, to: 2 * DAY_S, ...query }
  return get(
    `/history?${Object.entries(words)
      .map(([name, value]) => `${name}=${value}`)
      .join('&')}`,
  )
}

describe('/history', () => {
  it('gives bars of published prices with the volume traded within each', async () => {
    await commit(...marketWith())
    const { body, headers } = await history({})
    // 7 tokens at 2 dollars on the first day, 5 at 2 and 2 at 3 on the second; one swap was taken back.
    expect(body).toEqual({
      s: 'ok',
      t: [0, DAY_S],
      o: [2, 3],
      h: [2, 3],
      l: [2, 3],
      c: [2, 3],
      v: [14, 16],
    })
    expect(headers.get('x-assay-reason')).toBeNull()
  })

  it('has null when the pool was not yet followed for the whole bar, and says so', async () => {
    await commit(...marketWith(followed(1.2 * DAY_MS)))
    const { body, headers } = await history({ resolution: '60' })
    expect(body).toMatchObject({ t: [0.1 * DAY_S - 1440, 1.5 * DAY_S], v: [null, 0] })
    expect(headers.get('x-assay-reason')).toBe(`${0.1 * DAY_S - 1440}.volume=NOT_FOLLOWED`)
  })

  it('has null when a swap had no price', async () => {
    await commit(...marketWith(), {
      records: [said(null, 61, 1.61 * DAY_MS)],
      events: [swapAt(62, 1.62 * DAY_MS, { amount0: UNIT })],
    })
    const { body, headers } = await history({})
    expect(body).toMatchObject({ t: [0, DAY_S], v: [14, null] })
    expect(headers.get('x-assay-reason')).toBe(`${DAY_S}.volume=SWAP_WITHOUT_PRICE`)
  })

  it('has no volume at all for a token without a pool, never 0', async () => {
    await commit({ tokens: [tokenFacts(TOKEN.tokenAddress)], records: [said(2, 1, DAY_MS)] })
    const { body, headers } = await history({})
    expect(body).toEqual({ s: 'ok', t: [DAY_S], o: [2], h: [2], l: [2], c: [2] })
    expect(headers.get('x-assay-reason')).toBe('volume=NO_POOL')
  })

  it('counts back from a moment, and when there is nothing names the previous bar', async () => {
    await commit(...marketWith())
    expect((await history({ countback: 1 })).body).toMatchObject({ t: [DAY_S], v: [16] })
    const nothing = { from: 1.8 * DAY_S, to: 1.9 * DAY_S, resolution: '1' }
    expect((await history(nothing)).body).toEqual({ s: 'no_data', nextTime: 1.5 * DAY_S })
    expect((await history({ from: 0, to: 60, resolution: '1' })).body).toEqual({ s: 'no_data' })
  })

  it('refuses an invalid resolution, time or symbol, in the chart library’s error format', async () => {
    await commit(...marketWith())
    const refused = (status: number, errmsg: string) => ({ status, body: { s: 'error', errmsg } })
    expect(await history({ resolution: '7' })).toMatchObject(
      refused(400, 'resolution must be one of 1, 5, 15, 60, 240, 1D'),
    )
    expect(await history({ to: 'now' })).toMatchObject(refused(400, 'to must be a whole number'))
    expect(await history({ symbol: '9:0x12' })).toMatchObject(refused(404, 'unknown_symbol'))
    expect(await ask(`${api.url}/compat/udf/time`)).toMatchObject({ status: 401 })
  })
})

describe('around the bars', () => {
  it('the symbol, search results, the resolutions and the time are served', async () => {
    await commit(...marketWith(), { records: [health(CHAIN, 'HEALTHY')] })
    expect((await get(`/symbols?symbol=${SYMBOL}`)).body).toMatchObject({
      ticker: SYMBOL,
      description: 'TKN in US dollars',
      visible_plots_set: 'ohlcv',
      exchange: 'Chain 1',
    })
    expect((await get(`/symbols?symbol=${CHAIN}:${address('none')}`)).status).toBe(404)
    for (const query of ['tkn', TOKEN.tokenAddress])
      expect((await get(`/search?query=${query}`)).body).toMatchObject([{ symbol: 'TKN', ticker: SYMBOL }])
    expect((await get('/search?query=tkn&exchange=2')).body).toEqual([])
    const { body } = await get('/config')
    expect(body).toMatchObject({ supported_resolutions: ['1', '5', '15', '60', '240', '1D'] })
    expect((await get('/time')).text).toBe(`${NOW_MS / 1000}`)
  })
})
