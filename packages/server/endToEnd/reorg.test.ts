import type { PricedQuote } from '@assay/sdk'
import { trader } from '@assay/world'
import { beforeAll, describe, expect, it } from 'vitest'
import { ask } from './testing/answer.ts'
import { marketView } from './testing/marketView.ts'
import { CHAIN_ID, planWith, token } from './testing/plan.ts'
import { idOf, isPoolRetract, isPoolUpsert, isSwap, isTokenRetract, isTokenUpsert } from './testing/record.ts'
import { chain, client, serveChain, service } from './testing/servedChain.ts'
import type { Hex } from './testing/testChain.ts'
import { openTestService, startTestService, type TestService } from './testing/testService.ts'
import { until } from './testing/until.ts'

/** NEWT has no pool at first; LATE has one and is in no configuration. */
const WITH = {
  tokens: [token(0x50, 'NEWT', 0.5), token(0x60, 'LATE', 3)],
  pools: [{ deployment: 'uniswap-v2', pair: ['USDC', 'LATE'], usd: 200_000 }],
} as const

let pair: Hex
let v3: Hex
serveChain(planWith(WITH), { tokens: ['LARK', 'MOTH', 'NEWT'] })
beforeAll(async () => {
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  v3 = chain.pool('uniswap-v3', 'WETH', 'LARK')
  // What is loaded at a block goes with it; here that is not yet the point.
  await service.untilTip(await chain.mine(4))
})

const quoteOf = (symbol: string) =>
  client.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token(symbol) })

describe('a reorganisation of one block', () => {
  it('withdraws what depended on it by name, re-sends its swaps as orphaned, and shows the new state instead', async () => {
    const moth = chain.token('MOTH')
    const before = await quoteOf('MOTH')
    const after = await service.head()
    const block = await chain.run(chain.sellV2(pair, 'MOTH', 3000))
    // A probe of the token may publish a state of the block before.
    const token = await until('the price of the block', async () =>
      (await service.records(after))
        .filter(isTokenUpsert(moth))
        .find(({ payload }) => payload.as_of.block_hash === block.hash),
    )
    const [swap, pool] = await Promise.all([
      service.untilRecord('the swap', after, isSwap(pair)),
      service.untilRecord('the pool', after, isPoolUpsert(pair)),
    ])
    expect(token.payload.as_of.block_hash).toBe(block.hash)

    const head = await chain.reorg(1)
    expect([head.number, head.hash]).toEqual([block.number, expect.not.stringMatching(block.hash)])
    const retraction = await service.untilRecord('the retraction', after, isTokenRetract(moth))
    const records = await service.records(token.stream_sequence)
    expect(records.filter(isSwap(pair)).map(each => each.payload)).toEqual([
      { ...swap.payload, finality: 'orphaned' },
    ])
    expect(records.filter(isPoolRetract(pair)).map(each => each.payload)).toMatchObject([
      {
        reason: 'REORG',
        retracted: { record_id: pool.payload.record_id, stream_sequence: pool.stream_sequence },
      },
    ])
    // A probe of the token may also have published a second state of the same block; the last one is withdrawn.
    const last = (await service.records(after))
      .filter(isTokenUpsert(moth))
      .findLast(({ stream_sequence }) => stream_sequence < retraction.stream_sequence)
    expect(last?.payload.as_of.block_hash).toBe(block.hash)
    expect(retraction.payload).toMatchObject({
      reason: 'REORG',
      retracted: { record_id: last?.payload.record_id, stream_sequence: last?.stream_sequence },
      current: {
        state: 'PRICED',
        as_of: { block_hash: head.hash, stream_sequence: retraction.stream_sequence },
      },
    })
    const now = await quoteOf('MOTH')
    if (before.state !== 'PRICED' || now.state !== 'PRICED') throw new Error('not priced')
    expect(now.price_usd).toEqual(before.price_usd)
    expect(now.routes[0]?.hops[0]?.evidence).toEqual(before.routes[0]?.hops[0]?.evidence)
    // The full quote and the record are one evaluation.
    // The quote also has what is needed to repeat the probe.
    for (const [name, value] of Object.entries(retraction.payload.current))
      if (name === 'sellability') expect(now.sellability).toMatchObject(value as object)
      else expect(now[name as keyof typeof now], name).toEqual(value)
  })

  it('still lists the orphaned events, marked as orphaned', async () => {
    const block = await chain.run(chain.sellV2(pair, 'USDT', 40))
    await service.untilTip(block)
    await service.untilTip(await chain.reorg(1))
    const { events } = await client.fetchPoolEvents({
      chain_id: CHAIN_ID,
      pool_address: pair,
      from_block: block.number,
    })
    expect(events.map(each => [each.kind, each.block_hash, each.finality])).toEqual([
      ['SWAP', block.hash, 'orphaned'],
      ['SYNC', block.hash, 'orphaned'],
    ])
  })
})

describe('a reorganisation of three blocks', () => {
  it('replaces every published state of the old branch by that of the new, in one commit', async () => {
    const snapshot = await chain.snapshot()
    const after = await service.head()
    const old = [
      await chain.run(chain.sellV2(pair, 'MOTH', 2000), chain.sellV3(v3, 'LARK', 900)),
      await chain.run(chain.sellV3(v3, 'LARK', 700)),
      await chain.run(chain.sellV2(pair, 'MOTH', 900), trader.donateV2(pair, 10n ** 20n, 0n)),
    ]
    await service.untilTip(old[2] as { hash: Hex; number: number })
    const branched = await service.records(after)
    const published = [...branched]
    await chain.revert(snapshot)
    await chain.run(chain.sellV3(v3, 'WETH', 400))
    await chain.run(chain.sellV2(pair, 'USDT', 800), await chain.pullV2(pair, 100n))
    await chain.run(
      chain.sellV3(v3, 'WETH', 300),
      chain.sellV3(v3, 'LARK', 100),
      chain.sellV3(v3, 'WETH', 50),
    )
    await service.untilTip(await chain.run(chain.sellV2(pair, 'USDT', 30)))

    const since = await service.records(published.at(-1)?.stream_sequence ?? 0)
    const orphaned = since.filter(isSwap()).filter(each => each.payload.finality === 'orphaned')
    expect(orphaned.map(each => [each.payload.block_hash, each.payload.log_index]).sort()).toEqual(
      published
        .filter(isSwap())
        .map(each => [each.payload.block_hash, each.payload.log_index])
        .sort(),
    )
    expect(new Set(orphaned.map(each => each.payload.block_hash))).toEqual(
      new Set(old.map(({ hash }) => hash)),
    )
    for (const address of [pair, v3]) {
      const last = published.findLast(isPoolUpsert(address))
      expect(since.find(isPoolRetract(address))?.payload).toMatchObject({
        reason: 'REORG',
        retracted: { record_id: last?.payload.record_id, stream_sequence: last?.stream_sequence },
      })
    }
    for (const symbol of ['MOTH', 'LARK']) {
      const last = published.findLast(isTokenUpsert(chain.token(symbol)))
      const [retraction, ...more] = since.filter(isTokenRetract(chain.token(symbol)))
      expect(more).toEqual([])
      expect(retraction?.payload).toMatchObject({
        reason: 'REORG',
        retracted: { record_id: last?.payload.record_id, stream_sequence: last?.stream_sequence },
      })
    }
    // One step: the ids of all withdrawals share its number.
    const steps = since
      .filter(each => each.type === 'PRICE_RETRACT')
      .map(each => each.payload.record_id.split('-')[1])
    expect(new Set(steps).size).toBe(1)
  })

  it('may bring a pool in one block and its liquidity in the next', async () => {
    const newt = chain.token('NEWT')
    await service.untilTip(await chain.mine(3))
    const after = await service.head()
    const made = chain.pairOf('uniswap-v2', 'USDC', 'NEWT')
    // Deep, because a new pool earns its weight over half an hour.
    const fill = chain.batch(chain.fillV2(made, 'USDC', 'NEWT', 30_000_000))
    await service.untilTip(
      await chain.reorgWith(3, [
        { block: 0, ...chain.creationV2('uniswap-v2', 'USDC', 'NEWT') },
        { block: 1, ...fill },
      ]),
    )
    const { state } = await client.fetchPool({ chain_id: CHAIN_ID, pool_address: made })
    expect(Number((await chain.reserves(made)).reserve0)).toBeGreaterThan(0)
    expect(state).toMatchObject({ reserves: await chain.reserves(made), finality: 'canonical' })
    await until('NEWT priced', async () => {
      await service.untilTip(await chain.run(chain.sellV2(made, 'USDC', 5)))
      return (await service.records(after)).some(
        record => isTokenUpsert(newt)(record) && record.payload.state === 'PRICED',
      )
    })
  })

  it('removes a pool that only the old branch had', async () => {
    await chain.mine(2)
    const snapshot = await chain.snapshot()
    const made = await chain.createV2('v2-two', 'USDC', 'NEWT')
    await service.untilTip(await chain.run(chain.fillV2(made, 'USDC', 'NEWT', 200_000)))
    const key = await service.key()
    const url = `${service.url}/v1/pools/${CHAIN_ID}/${made}`
    expect((await ask(url, { key })).status).toBe(200)
    const last = (await service.records()).findLast(isPoolUpsert(made))
    await chain.revert(snapshot)
    await service.untilTip(await chain.mine(3))
    const retraction = (await service.records(last?.stream_sequence)).find(isPoolRetract(made))
    expect(retraction?.payload).toMatchObject({
      pool_id: idOf(made),
      reason: 'POOL_ORPHANED',
      retracted: { record_id: last?.payload.record_id, stream_sequence: last?.stream_sequence },
      current: null,
    })
    expect((await ask(url, { key })).status).toBe(404)
    const snapshotPools = (await client.fetchPools()).pools
    expect(snapshotPools.some(each => each.pool_address === made)).toBe(false)
  })
})

/** A head after a reorganisation is as old as the fork: on a busy machine it takes a block of this moment. */
const isWell = async (service: TestService): Promise<boolean> =>
  (await service.health())?.status === 'HEALTHY'

describe('after all of it', () => {
  it('the service agrees with one that sees the final chain for the first time', async () => {
    // The last trade of each pool is a purchase, so that evidence is simulated by both.
    const head = await chain.run(chain.sellV2(pair, 'USDT', 70), chain.sellV3(v3, 'WETH', 120))
    await service.untilTip(head)
    const fresh = await startTestService(chain, { name: 'fresh', tokens: ['LARK', 'MOTH', 'NEWT'] })
    try {
      await chain.untilMining('feeds that are well', async () => (await isWell(service)) && isWell(fresh))
      const last = await chain.head()
      await Promise.all([service.untilTip(last), fresh.untilTip(last)])
      expect(await marketView(client)).toEqual(await marketView(await fresh.client()))
    } finally {
      await fresh.close()
    }
    expect(service.faults).toEqual([])
  })

  it('a reorganisation of the block at which a token was read reads it again', async () => {
    await chain.mine(2)
    const asked = await service.client()
    const late = chain.token('LATE')
    await service.untilTip(await chain.mine())
    expect((await asked.quoteToken({ chain_id: CHAIN_ID, token_address: late })).state).toBe('PENDING')
    await until('LATE priced', async () => (await service.store.readQuote(CHAIN_ID, late)) !== null)
    const before = await asked.quoteToken({ chain_id: CHAIN_ID, token_address: late })
    const head = await chain.reorg(1)
    await service.untilTip(head)
    const last = (await service.records()).findLast(isTokenUpsert(late))
    await service.untilRecord(
      'LATE priced again',
      last?.stream_sequence ?? 0,
      record =>
        isTokenRetract(late)(record) || (isTokenUpsert(late)(record) && record.payload.state === 'PRICED'),
    )
    const now = await chain.untilMining('LATE priced again', async () => {
      const { quote } = (await service.store.readQuote(CHAIN_ID, late)) ?? { quote: '{}' }
      const read = JSON.parse(quote) as { state: string; price_usd: unknown }
      return read.state === 'PRICED' && read
    })
    expect(now.price_usd).toEqual((before as PricedQuote).price_usd)
    expect(service.faults).toEqual([])
  })

  it('a reorganisation of the very first block of a service is handled like any other', async () => {
    const young = await startTestService(chain, { name: 'young', tokens: ['LARK', 'MOTH', 'NEWT'] })
    try {
      const head = await chain.reorg(1)
      await Promise.all([young.untilTip(head), service.untilTip(head)])
      const known = (await marketView(client)).pools.length
      await chain.untilMining('everything read again, and a healthy feed', async () => {
        const rows = await young.store.readTokens({ chainId: CHAIN_ID, after: null, limit: 100 })
        const pools = await young.store.readPools({
          chainId: CHAIN_ID,
          tokenAddress: null,
          after: null,
          limit: 100,
        })
        return (
          rows.every(row => row.price?.includes('"state":"PRICED"')) &&
          pools.pools.every(row => row.state !== null) &&
          pools.pools.length >= known - 1 &&
          (await isWell(service))
        )
      })
      await service.untilTip(await chain.head())
      const own = await marketView(client)
      const theirs = await marketView(await young.client())
      for (const [symbol, quote] of Object.entries(theirs.quotes)) expect(quote).toEqual(own.quotes[symbol])
      for (const pool of theirs.pools) expect(own.pools).toContainEqual(pool)
      expect(young.faults).toEqual([])
    } finally {
      await young.close()
    }
  })

  it('and so is one that happens while the service is stopped', async () => {
    const first = await startTestService(chain, { name: 'stopped', tokens: ['MOTH'] })
    await first.close()
    await chain.reorg(1)
    const second = await openTestService(chain, { name: 'stopped', tokens: ['MOTH'] })
    try {
      const head = await chain.mine()
      await until('the new head committed, or a chain that is halted', async () => {
        const tip = (await second.store.readCheckpoint(CHAIN_ID))?.tip
        const isHalted = (await second.store.readHealth(CHAIN_ID))?.includes('HALTED') ?? false
        return tip?.hash === head.hash || isHalted || second.faults.length > 0
      })
      expect([await second.store.readHealth(CHAIN_ID), ...second.faults].join()).not.toMatch(/HALTED|stopped/)
    } finally {
      await second.close()
    }
  })
})
