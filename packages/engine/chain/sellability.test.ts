import { describe, expect, it } from 'vitest'
import { decodeState, encodeEntity, entityKeys } from '../stored/codec.ts'
import { DAY, E6, E18, MINUTE, P1, T, USDC, WETH } from '../testing/cast.ts'
import { scenario, type Scenario } from '../testing/scenario.ts'
import { computeExit } from '../exit/computeExit.ts'
import { count } from '../units.ts'

/** T against dollars; nobody has probed it. */
function market(policy?: unknown): Scenario {
  const s = scenario(policy === undefined ? {} : { policy })
  s.v2(P1, [T, 1_000_000n * E18], [USDC, 1_000_000n * E6])
  s.decimals(T, 18)
  s.run({ kind: 'enrol', token: T })
  // Decimals are in use a minute after they were read: before that nobody knows what a trade is worth.
  s.mine({ afterMs: 2 * MINUTE })
  return s
}

const codes = (s: Scenario) => s.priced(T).confidence.caps.map(({ code, cap }) => `${code} ${cap}`)
const sellCodes = (s: Scenario) => codes(s).filter(each => /SELL|TAX/.test(each))

describe('sellability', () => {
  it('R-sell-3: before the first probe the cap is that of an unknown result, and the price is there', () => {
    const s = market()
    expect(sellCodes(s)).toEqual(['SELLABILITY_UNKNOWN 7'])
    expect(s.priced(T).sellability).toMatchObject({ status: 'UNKNOWN', reason: 'NOT_YET' })
  })

  it.each([
    [{ status: 'SELLABLE' }, []],
    [{ status: 'TAXED', sellTaxBps: 50 }, []],
    [{ status: 'TAXED', sellTaxBps: 51 }, ['TRANSFER_TAX 6']],
    [{ status: 'TAXED', transferTaxBps: 300 }, ['TRANSFER_TAX 6']],
    [{ status: 'TAXED', transferTaxBps: 301, sellTaxBps: 10 }, ['TRANSFER_TAX 3']],
    // What a buyer loses is in the pool's price already.
    [{ status: 'TAXED', buyTaxBps: 5000 }, []],
    [{ status: 'UNSELLABLE', reason: 'SELL_REVERTED' }, ['UNSELLABLE 1']],
    [{ status: 'UNKNOWN', reason: 'SELL_REVERTED' }, ['SELLABILITY_UNKNOWN 7']],
    [{ status: 'UNKNOWN', reason: 'NO_PATH', sellTaxBps: 400 }, ['TRANSFER_TAX 3']],
    [{ status: 'UNKNOWN', reason: 'NO_PATH', sellTaxBps: 60 }, ['TRANSFER_TAX 6']],
  ])('R-sell-3: %o caps at %o, and never changes the price', (found, expected) => {
    const s = market()
    const before = s.price(T)
    s.probed(T, found as never)
    expect(sellCodes(s)).toEqual(expected)
    expect(s.price(T)).toEqual(before)
  })

  it('R-exit-1: an exit is after the measured sale tax, and says so', () => {
    const s = market()
    const paid = () => {
      const answer = computeExit(s.state, T, s.nowMs, { in: 'units', values: [100n * E18] })
      if (answer.outcome !== 'exit') throw new Error(answer.outcome)
      const { sales, sellability } = answer.exit as {
        sales: readonly { proceeds: readonly { amount: string }[] }[]
        sellability: object
      }
      return { amount: BigInt(sales[0]?.proceeds[0]?.amount ?? 0), sellability }
    }
    const untaxed = paid()
    expect(untaxed.sellability).toMatchObject({ status: 'UNKNOWN', sell_tax_bps: null })
    s.probed(T, { status: 'TAXED', sellTaxBps: count(2000) })
    const taxed = paid()
    expect(taxed.sellability).toMatchObject({ status: 'TAXED', sell_tax_bps: 2000 })
    // A pool this deep pays in proportion, to a little less than the impact of what is not sold.
    expect(taxed.amount).toBeGreaterThan((untaxed.amount * 8000n) / 10_000n)
    expect(taxed.amount).toBeLessThan((untaxed.amount * 8001n) / 10_000n)
  })

  it('R-sell-3: a policy of revision 1 has no such cap', () => {
    const s = market({ revision: 1 })
    expect(sellCodes(s)).toEqual([])
    s.probed(T, { status: 'UNSELLABLE', reason: 'SELL_REVERTED' })
    expect(sellCodes(s)).toEqual([])
  })

  it('R-sell-2: a token that others sold within a day of the probe is restricted, not a trap for all', () => {
    const s = market()
    s.sell(P1, 100n * E18)
    s.mine()
    s.probed(T, { status: 'UNSELLABLE', reason: 'SELL_REVERTED' })
    expect(sellCodes(s)).toEqual(['SELL_RESTRICTED 3'])
    expect(s.priced(T).sellability).toMatchObject({ status: 'UNKNOWN', reason: 'SELL_RESTRICTED' })
    s.mine({ afterMs: DAY - 12_000 })
    s.probed(T, { status: 'UNSELLABLE', reason: 'SELL_REVERTED' })
    expect(s.token(T).sellability).toMatchObject({ status: 'UNKNOWN', reason: 'SELL_RESTRICTED' })
    s.mine({ afterMs: 24_000 })
    s.probed(T, { status: 'UNSELLABLE', reason: 'SELL_REVERTED' })
    expect(s.token(T).sellability).toMatchObject({ status: 'UNSELLABLE' })
  })

  it('R-sell-2: purchases and dust sales do not count as sales by others', () => {
    const s = market()
    s.buy(P1, 100n * E6)
    s.sell(P1, E18 / 100n)
    s.mine()
    s.probed(T, { status: 'UNSELLABLE', reason: 'SELL_REVERTED' })
    expect(sellCodes(s)).toEqual(['UNSELLABLE 1'])
  })

  it('R-sell-4: an unchanged probe publishes nothing, a different result does', () => {
    const s = market()
    s.probed(T)
    expect(s.said(T)).toBe('PRICE_UPSERT')
    s.mine()
    s.probed(T)
    expect(s.result.records).toEqual([])
    expect(s.token(T).sellability?.block).toEqual(s.tip)
    s.probed(T, { status: 'TAXED', sellTaxBps: count(10) })
    expect(s.said(T)).toBe('PRICE_UPSERT')
  })

  it('R-sell-4: is undone with its block, and an older reading never replaces a newer one', () => {
    const s = market()
    const before = s.tip
    s.probed(T)
    const block = s.mine()
    s.probed(T, { status: 'UNSELLABLE', reason: 'SELL_REVERTED' })
    s.probed(T, {}, before)
    expect(s.token(T).sellability?.status).toBe('UNSELLABLE')
    s.run({ kind: 'reorg', ancestor: block.parentHash, blocks: [] })
    expect(s.token(T).sellability?.status).toBe('SELLABLE')
    expect(sellCodes(s)).toEqual([])
  })

  it('R-sell-4: a stable and a routing asset have none', () => {
    const s = market()
    s.probed(WETH, { status: 'UNSELLABLE' })
    s.probed(USDC, { status: 'UNSELLABLE' })
    expect(s.token(WETH).sellability).toBeUndefined()
    expect(s.quote(USDC)).toMatchObject({ sellability: null })
  })

  it('R-sell-4: is stored with its token', () => {
    const s = market()
    s.probed(T, { status: 'TAXED', sellTaxBps: count(60), sizes: [1n, 2n] })
    const texts = [...entityKeys(s.state)].map(key => [key, encodeEntity(s.state, key) ?? ''] as const)
    const read = decodeState(s.state.setup, texts)
    expect(read.tokens.get(T)?.sellability).toEqual(s.token(T).sellability)
  })
})
