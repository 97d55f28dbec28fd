/**
 * The chain of the local world that has every new kind of pool, as `npm start` runs it: its past, its traders, its deposits
 * and its incidents. What a new service finds there by look-up and in the blocks it walks is priced or refused by name.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client, TokenQuote } from '@assay/sdk'
import { causeIncident, type LocalWorld, startWorld, WORLD, type WorldChain } from '@assay/world'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestChain } from './testing/testChain.ts'
import { startTestService, type TestService } from './testing/testService.ts'
import { until } from './testing/until.ts'

const BASE = 8453

let world: LocalWorld
let chain: TestChain
let service: TestService
let client: Client

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-base-'))
  world = await startWorld({ folder, plans: WORLD.filter(({ chainId }) => chainId === BASE) })
  chain = new TestChain(world.chains[0] as WorldChain, folder, async () => {
    await world.close()
    rmSync(folder, { recursive: true, force: true })
  })
  service = await startTestService(chain)
  client = await service.client()
})
afterAll(async () => {
  await service?.close()
  await chain?.close()
})

const quoteOf = (symbol: string): Promise<TokenQuote> =>
  client.quoteToken({ chain_id: BASE, token_address: chain.token(symbol) })

/** The market's current price: it keeps trading by itself. */
const untilQuote = (symbol: string, state: TokenQuote['state']): Promise<TokenQuote> =>
  until(`${symbol} is ${state}`, async () => {
    const quote = await quoteOf(symbol)
    return quote.state === state && quote
  })

const familiesOf = (quote: TokenQuote): readonly string[] =>
  quote.state === 'PRICED' ? quote.routes.flatMap(({ hops }) => hops.map(({ family }) => family)) : []

describe('a service that sees the chain for the first time', () => {
  it.each([
    ['CLOVER', 'amm_v4'],
    ['ORIOLE', 'amm_v3_pancake'],
    ['GANNET', 'amm_v4'],
  ])('prices %s over a pool of %s that it looked up', async (symbol, family) => {
    expect(familiesOf(await untilQuote(symbol, 'PRICED'))).toContain(family)
  })

  it('R-hook-2: prices tokens with hooks that take nothing, with a cap where one sets the fee', async () => {
    const capsOf = async (symbol: string) => {
      const quote = await untilQuote(symbol, 'PRICED')
      expect(familiesOf(quote)).toContain('amm_v4')
      return JSON.stringify(quote)
    }
    expect(await capsOf('NETTLE')).toContain('"HOOK_FEE"')
    expect(await capsOf('SAMPHIRE')).not.toContain('"HOOK_FEE"')
  })

  it('R-hook-1: refuses a pool whose hook takes some of every swap, by name', async () => {
    const refused = await until('BURDOCK refused by name', async () => {
      const quote = JSON.stringify(await untilQuote('BURDOCK', 'UNPRICED'))
      return quote.includes('"rule":"HOOK_UNSUPPORTED"') && quote
    })
    expect(refused).not.toContain('"state":"PRICED"')
  })

  it('proves blocks whose trades came by deposits', async () => {
    const { number: head } = await chain.head()
    const blocks = Array.from({ length: 120 }, (_, back) => `0x${(head - back).toString(16)}`)
    const kinds = await Promise.all(
      blocks.map(block => chain.rpc<{ type: string }[]>('eth_getBlockReceipts', block)),
    )
    expect(new Set(kinds.flat().map(({ type }) => type))).toEqual(new Set(['0x2', '0x7E']))
    const events = await until('swaps of a pool between anchors', async () => {
      const pool_address = chain.pool('uniswap-v2', 'USDC', 'WETH')
      const found = await client.fetchPoolEvents({ chain_id: BASE, pool_address, kind: 'SWAP' })
      return found.events.length > 0 && found.events
    })
    expect(new Set(events.map(({ proof }) => proof))).toEqual(new Set(['receipts']))
  })
})

describe('incidents', () => {
  it('a rug of a token with a v4 pool removes its price in that block', async () => {
    await untilQuote('GANNET', 'PRICED')
    await causeIncident(world, { name: 'rug', chainId: BASE, token: 'GANNET' })
    expect(JSON.stringify(await untilQuote('GANNET', 'UNPRICED'))).toContain('BELOW_MIN_DEPTH')
  })

  it('liquidity of a pool with a hook moves to one side of its price, and the price is withdrawn', async () => {
    await untilQuote('SAMPHIRE', 'PRICED')
    await causeIncident(world, { name: 'one-sided', chainId: BASE, token: 'SAMPHIRE' })
    expect(JSON.stringify(await untilQuote('SAMPHIRE', 'UNPRICED'))).toContain('NO_ACTIVE_LIQUIDITY')
  })

  it('a price that is doubled and restored inside a block is not seen, in every kind of pool', async () => {
    for (const token of ['CLOVER', 'ORIOLE', 'LARCH', 'NETTLE']) {
      const before = await untilQuote(token, 'PRICED')
      const { pools } = await causeIncident(world, { name: 'flash', chainId: BASE, token })
      expect(pools.length).toBeGreaterThan(0)
      const after = await untilQuote(token, 'PRICED')
      if (before.state !== 'PRICED' || after.state !== 'PRICED') return expect.unreachable('both are priced')
      const moved = Number(after.price_usd.display) / Number(before.price_usd.display)
      expect(Math.abs(moved - 1), token).toBeLessThan(0.1)
    }
  })
})
