/** A running service determines whether its tokens can be sold, and publishes it in quotes and on change. */
import { beforeEach, describe, expect, it } from 'vitest'
import { ask } from './testing/answer.ts'
import { CHAIN_ID, planWith } from './testing/plan.ts'
import { chain, serveChain, service } from './testing/servedChain.ts'

type Sellability = {
  readonly status: string
  readonly reason: string | null
  readonly method: string | null
  readonly path: readonly unknown[]
}
type Quote = {
  readonly sellability: Sellability | null
  readonly confidence: { readonly score: number; readonly caps: readonly { code: string; cap: number }[] }
}

serveChain(planWith(), { tokens: ['LARK', 'MOTH'] })
beforeEach(() => service.untilWell())

const quoteOf = async (symbol: string): Promise<Quote> => {
  const url = `${service.url}/v1/quote/token/${CHAIN_ID}/${chain.token(symbol)}`
  return (await ask(url, { key: await service.key() })).body as Quote
}

const untilProbed = (symbol: string) =>
  chain.untilMining(`${symbol} is probed`, async () => {
    const quote = await quoteOf(symbol)
    return quote.sellability?.reason === 'NOT_YET' ? null : quote
  })

describe('sellability', () => {
  it('R-sell-1: of a token that can be sold is found by a purchase and a sale, and caps nothing', async () => {
    const { sellability, confidence } = await untilProbed('LARK')
    expect(sellability).toMatchObject({
      status: 'SELLABLE',
      buy_tax_bps: 0,
      transfer_tax_bps: 0,
      sell_tax_bps: 0,
      reason: null,
      method: 'SIMULATE',
    })
    expect(confidence.caps.map(({ code }) => code)).not.toContain('SELLABILITY_UNKNOWN')
  })

  it('R-sell-1: of a token that cannot be reached from native currency is unknown, with the reason', async () => {
    const { sellability, confidence } = await untilProbed('MOTH')
    expect(sellability).toMatchObject({ status: 'UNKNOWN', reason: 'NO_PATH', method: null, path: [] })
    expect(confidence.caps).toContainEqual({ code: 'SELLABILITY_UNKNOWN', cap: 7 })
  })

  it('R-sell-4: of a stable and a routing asset is absent', async () => {
    for (const symbol of ['USDC', 'WETH']) expect((await quoteOf(symbol)).sellability).toBeNull()
  })
})
