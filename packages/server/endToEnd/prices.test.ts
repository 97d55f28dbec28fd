import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  ChainList,
  type Client,
  Envelope,
  EvaluatedQuote,
  Health,
  Pool,
  PoolEventPage,
  PoolPage,
  PoolQuote,
  type PricedQuote,
  SearchResult,
  Session,
  TokenList,
} from '@assay/sdk'
import { trader, v2PairAbi } from '@assay/world'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { conformance } from '../../sdk/testing/conformance.ts'
import { cursorAfter, Heard } from './testing/heard.ts'
import { CHAIN_ID } from './testing/plan.ts'
import { idOf, isPoolUpsert, isTokenUpsert } from './testing/record.ts'
import { chain, client, serveChain, service } from './testing/servedChain.ts'
import type { Hex } from './testing/testChain.ts'
import { startTestService } from './testing/testService.ts'
import { until } from './testing/until.ts'

let v2: Hex
let v3: Hex
serveChain()
beforeAll(() => {
  v2 = chain.pool('uniswap-v2', 'USDC', 'LARK')
  v3 = chain.pool('uniswap-v3', 'WETH', 'LARK')
})
beforeEach(() => service.untilWell())

const path = (symbol: string) => ({ chain_id: CHAIN_ID, token_address: chain.token(symbol) })
async function priced(symbol: string): Promise<PricedQuote> {
  const quote = await client.quoteToken(path(symbol))
  if (quote.state !== 'PRICED') throw new Error(`${symbol} is ${JSON.stringify(quote).slice(0, 200)}`)
  return quote
}

describe('a price', () => {
  it('appears for every configured token, near the price its pools were filled at', async () => {
    for (const [symbol, usd] of [
      ['USDC', 1],
      ['USDT', 1],
      ['WETH', 2000],
      ['LARK', 1.25],
      ['MOTH', 0.04],
    ] as const) {
      const { price_usd, confidence } = await priced(symbol)
      // The evidence is a sale, so it is lower by the fee of each hop: 0.3% of at most two.
      expect(Number(price_usd.display) / usd).toBeGreaterThan(0.993)
      expect(Number(price_usd.display) / usd).toBeLessThanOrEqual(1)
      expect(confidence.score).toBeGreaterThan(0)
    }
    expect(service.faults).toEqual([])
  })

  it('is exactly what the pair itself would pay for the evidence', async () => {
    const { routes, price_usd } = await priced('MOTH')
    const [hop] = routes[0]?.hops ?? []
    const evidence = hop?.evidence
    if (hop === undefined || evidence === null || evidence === undefined) throw new Error('no evidence')
    const pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    const { client: node, seeded } = chain.world
    const [reserve0, reserve1] = await node.readContract({
      address: pair,
      abi: v2PairAbi,
      functionName: 'getReserves',
    })
    const isToken0 = chain.token('MOTH') < chain.token('USDT')
    const [, reserveOut] = isToken0 ? [reserve0, reserve1] : [reserve1, reserve0]
    // The contract is the oracle: it takes this much and not one unit more.
    const asking = (out: bigint) =>
      trader.swapV2(pair, {
        [isToken0 ? 'in0' : 'in1']: BigInt(evidence.amount_in),
        [isToken0 ? 'out1' : 'out0']: out,
      })
    const out = BigInt(evidence.amount_out)
    const probed = await trader.probe(node, seeded.trader, [asking(out), asking(out + 1n)], 5_000_000n)
    expect(probed.map(each => each.ok)).toEqual([true, false])
    expect(out).toBeLessThan(reserveOut)
    // MOTH has 18 decimals and USDT 6, which answers exactly one dollar.
    expect(BigInt(price_usd.numerator) * BigInt(evidence.amount_in) * 10n ** 6n).toBe(
      BigInt(price_usd.denominator) * out * 10n ** 18n,
    )
  })

  it('moves with a swap, and each record is readable when it arrives: swap, then pool, then one token', async () => {
    const before = await priced('MOTH')
    const pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    const after = await service.head()
    const seen: { readonly record: Envelope; readonly stored: string | undefined; readonly shown: number }[] =
      []
    const resumeCursor = await cursorAfter(client, CHAIN_ID, after)
    const heard = new Heard(client, { filter: { chain_ids: [CHAIN_ID] }, resumeCursor }, async record => {
      const [stored] = await service.store.readLog(record.stream_sequence - 1, 1, null)
      const { state } = await client.fetchPool({ chain_id: CHAIN_ID, pool_address: pair })
      seen.push({ record, stored: stored?.envelope, shown: state?.stream_sequence ?? 0 })
    })
    const { hash, number } = await chain.run(chain.sellV2(pair, 'MOTH', 4000))
    const token = await service.untilRecord('the token', after, isTokenUpsert(chain.token('MOTH')))
    await heard.untilSequence(token.stream_sequence)
    await until('every record looked up', () => seen.length === heard.records.length)
    await heard.close()

    const own = heard.records.filter(record => record.type !== 'FEED_HEALTH')
    expect(own.map(record => [record.type, 'scope' in record.payload ? record.payload.scope : null])).toEqual(
      [
        ['SWAP_OBSERVED', null],
        ['PRICE_UPSERT', 'pool'],
        ['PRICE_UPSERT', 'token'],
      ],
    )
    expect(own[0]?.payload).toMatchObject({ pool_id: idOf(pair), block_hash: hash, block_number: number })
    expect(own[1]?.payload).toMatchObject({ pool_id: idOf(pair), block_hash: hash })
    expect(own[2]?.payload).toMatchObject({
      as_of: { block_hash: hash, stream_sequence: own[2]?.stream_sequence },
    })
    for (const { record, stored, shown } of seen) {
      expect(stored).toBe(JSON.stringify(record))
      if (isPoolUpsert(pair)(record)) expect(shown).toBeGreaterThanOrEqual(record.stream_sequence)
    }
    const both = [idOf(chain.token('USDT')), idOf(chain.token('MOTH'))].sort()
    expect(own.map(record => record.routing)).toEqual([
      { chain_id: CHAIN_ID, pool_ids: [idOf(pair)], token_ids: both },
      { chain_id: CHAIN_ID, pool_ids: [idOf(pair)], token_ids: both },
      { chain_id: CHAIN_ID, pool_ids: [idOf(pair)], token_ids: [idOf(chain.token('MOTH'))] },
    ])
    // A sale of that size is evidence itself: the price is what this very swap got.
    const now = await priced('MOTH')
    expect(now.as_of.stream_sequence).toBe(token.stream_sequence)
    const evidence = now.routes[0]?.hops[0]?.evidence
    expect(evidence).toMatchObject({ kind: 'OBSERVED_SWAP', block_hash: hash, finality: 'canonical' })
    const amounts = Object.entries(own[0]?.payload ?? {}).filter(([name]) => name.startsWith('amount'))
    expect([evidence?.amount_in, evidence?.amount_out].sort()).toEqual(
      amounts
        .map(([, amount]) => String(amount))
        .filter(amount => amount !== '0')
        .sort(),
    )
    expect(Number(now.price_usd.display)).toBeLessThan(Number(before.price_usd.display))
  })

  it('R-publish-1: is the same in the quote, the lists, the snapshot and the stream at its sequence', async () => {
    await service.untilTip(await chain.run(chain.sellV2(v2, 'USDC', 900), chain.sellV3(v3, 'WETH', 300)))
    const quote = await priced('LARK')
    const [tokens, pools] = [await client.fetchTokens({ chain_id: CHAIN_ID }), await client.fetchPools()]
    const listed = tokens.tokens.find(each => each.token_address === chain.token('LARK'))
    expect(listed).toMatchObject({ symbol: 'LARK', decimals: 18, role: 'TOKEN', state: 'PRICED' })
    const record = (await service.records()).find(
      each => each.stream_sequence === quote.as_of.stream_sequence,
    )
    if (record === undefined || !isTokenUpsert(chain.token('LARK'))(record)) throw new Error('no such record')
    const { scope: _, chain_id: __, token_id: ___, record_id: ____, ...streamed } = record.payload
    expect(listed?.price).toEqual(streamed)
    const { sellability, ...shared } = streamed as typeof streamed & { sellability: object }
    for (const [name, value] of Object.entries(shared))
      expect(quote[name as keyof typeof quote], name).toEqual(value)
    // The quote has the same, and what it takes to run the probe again.
    expect(quote.sellability).toMatchObject(sellability)
    for (const pool of pools.pools) {
      for (const side of [pool.token0, pool.token1])
        if (side.token_id === idOf(chain.token('LARK'))) expect(side.price).toEqual(streamed)
      const last = (await service.records()).findLast(isPoolUpsert(pool.pool_address))
      if (last === undefined) throw new Error(`no record of ${pool.pool_address}`)
      const { scope, chain_id, pool_id, record_id, ...state } = last.payload
      expect([scope, chain_id, pool_id, typeof record_id]).toEqual(['pool', CHAIN_ID, pool.pool_id, 'string'])
      expect(pool.state).toEqual({ ...state, stream_sequence: last.stream_sequence })
    }
    // Evidence of the quote's hops is the evidence of the pools they go over.
    for (const hop of quote.routes.flatMap(route => route.hops))
      expect(hop.evidence).toEqual(pools.pools.find(pool => pool.pool_id === hop.pool_id)?.state?.evidence)
    expect(pools.snapshot_sequence).toBeGreaterThanOrEqual(quote.as_of.stream_sequence)
  })

  it('computed on demand is marked so, and agrees with the published one', async () => {
    const quote = await priced('MOTH')
    const computed = await client.quoteToken({ ...path('MOTH'), max_hops: 1 })
    expect(quote.source).toBe('RETRIEVED')
    expect(computed).toMatchObject({
      source: 'COMPUTED',
      state: 'PRICED',
      price_usd: quote.price_usd,
      selected: { route_id: quote.selected?.route_id },
    })
    expect((computed as PricedQuote).as_of.stream_sequence).toBe(await service.head())
  })
})

describe('the follower of the SDK', () => {
  it('ends with the state that the service gives', async () => {
    const follower = client.follow({ chain_id: CHAIN_ID })
    const events = follower[Symbol.asyncIterator]()
    await until('live', async () => {
      await chain.run(chain.sellV2(v2, 'LARK', 50))
      await events.next()
      return follower.status === 'live'
    })
    await service.untilTip(await chain.run(chain.sellV2(v2, 'LARK', 700)))
    // Time alone may publish a record between the two: then both are read again.
    const pools = await until('a list of pools at the follower’s sequence', async () => {
      const head = await service.head()
      while ((follower.sequence ?? 0) < head) await events.next()
      const page = await client.fetchPools()
      return (await service.head()) === head ? page.pools : null
    })
    expect([...follower.pools()].map(each => each.pool_id).sort()).toEqual(
      pools.map(each => each.pool_id).sort(),
    )
    for (const { pool_id, state, token0, token1 } of pools) {
      expect({ ...follower.pool(pool_id)?.state, stream_sequence: state?.stream_sequence }).toEqual(state)
      for (const side of [token0, token1]) expect(follower.token(side.token_id)?.price).toEqual(side.price)
    }
    follower.close()
    await events.next()
  })
})

describe('the wire schema', () => {
  it('holds for lists, records of the chain, sessions, and records of the stream', async () => {
    const pool = { chain_id: CHAIN_ID, pool_address: v3 }
    await service.untilTip(await chain.run(chain.sellV3(v3, 'LARK', 300)))
    expect(conformance(ChainList)(await client.fetchChains())).toEqual([])
    expect(conformance(TokenList)(await client.fetchTokens({ chain_id: CHAIN_ID }))).toEqual([])
    expect(conformance(SearchResult)(await client.search({ address: chain.token('LARK') }))).toEqual([])
    expect(conformance(PoolEventPage)(await client.fetchPoolEvents(pool))).toEqual([])
    expect(conformance(Health)(await client.fetchHealth({ chain_id: CHAIN_ID }))).toEqual([])
    expect(conformance(Session)(await client.createSession({ chain_id: CHAIN_ID }))).toEqual([])
    const others = (await service.records()).filter(
      record => !('scope' in record.payload && record.payload.scope === 'pool'),
    )
    expect(others.flatMap(conformance(Envelope))).toEqual([])
  })

  // The quote has no `change` yet.
  it('holds for a quote', async () => {
    expect(conformance(EvaluatedQuote)(await priced('LARK'))).toEqual([])
  })

  it('holds for pools and their records', async () => {
    expect(conformance(PoolPage)(await client.fetchPools())).toEqual([])
    expect(conformance(Pool)(await client.fetchPool({ chain_id: CHAIN_ID, pool_address: v3 }))).toEqual([])
  })

  it('holds for a pool quote', async () => {
    expect(conformance(PoolQuote)(await client.quotePool({ chain_id: CHAIN_ID, pool_address: v3 }))).toEqual(
      [],
    )
  })
})

describe('recent events of a pool', () => {
  it('are the chain’s own, newest first, paged without loss, by kind and by block', async () => {
    const pool = { chain_id: CHAIN_ID, pool_address: v2 }
    const first = await chain.run(chain.sellV2(v2, 'USDC', 10), chain.sellV2(v2, 'LARK', 10))
    const last = await chain.run(chain.sellV2(v2, 'USDC', 20))
    await service.untilTip(last)
    const { events } = await client.fetchPoolEvents({
      ...pool,
      from_block: first.number,
      to_block: last.number,
    })
    const node = await chain.world.client.getLogs({
      address: v2,
      fromBlock: BigInt(first.number),
      toBlock: BigInt(last.number),
    })
    // A swap of a pair is a Sync and a Swap, and nothing else of ours; Transfers are of the tokens.
    expect(events.map(each => [each.block_hash, each.log_index, each.transaction_hash])).toEqual(
      node.map(each => [each.blockHash, each.logIndex, each.transactionHash]).reverse(),
    )
    expect(events.every(each => each.finality === 'canonical' && each.proof === 'receipts')).toBe(true)
    const swaps = await client.fetchPoolEvents({ ...pool, kind: 'SWAP', from_block: first.number })
    expect(swaps.events.map(each => each.kind)).toEqual(['SWAP', 'SWAP', 'SWAP'])
    const paged: unknown[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<Client['fetchPoolEvents']>> = await client.fetchPoolEvents({
        ...pool,
        from_block: first.number,
        limit: 2,
        ...(cursor === null ? {} : { cursor }),
      })
      paged.push(...page.events)
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(paged).toEqual(events)
  })
})

describe('the depth of other markets', () => {
  it('comes from a file beside the configuration, and is shown with the score it gives', async () => {
    const unknown = JSON.stringify(await client.quoteToken(path('WETH')))
    expect(unknown).toContain('COVERAGE_UNKNOWN')
    const assets = [{ ...path('WETH'), external_depth_usd: '1000000000' }]
    writeFileSync(join(chain.folder, 'depth.json'), JSON.stringify({ as_of_ms: Date.now(), assets }))
    const sources = [{ kind: 'file', path: 'depth.json' }]
    const covered = await startTestService(chain, { name: 'covered', coverage: sources })
    try {
      await covered.untilWell()
      const quote = await (await covered.client()).quoteToken(path('WETH'))
      expect(JSON.stringify(quote)).not.toContain('COVERAGE_UNKNOWN')
      // Next to a billion elsewhere it is next to nothing.
      expect(quote).toMatchObject({
        state: 'PRICED',
        routes: [{ hops: [{ components: { coverage: { score: 1 } } }] }],
      })
    } finally {
      await covered.close()
    }
  })
})
