/** Reorganisations of faults.md, on real chains through the fault proxy. */
import { describe, expect, it } from 'vitest'
import { connect, createV2Pair, deployToken, deployV2Factory } from '@assay/world'
import { type FaultProxy, startFaultProxy } from '../../../world/proxy/faultProxy.ts'
import { decodeBlock } from '../../market/decode.ts'
import type { DeploymentConfig } from '../../config/config.ts'
import type { Address } from '../../ops/hex.ts'
import type { Consumer } from '../testing/consumer.ts'
import { chainOfFile, endpointsOf, follow, keep, refOf } from '../testing/following.ts'
import {
  blockAt,
  EVERY_KIND,
  latest,
  type LocalChain,
  LOGGER,
  mine,
  mineTransactions,
  reorg,
  startLocalChain,
} from '../testing/localChain.ts'
import { expectFinalChain } from '../testing/oracle.ts'

const chain = await chainOfFile(10)

const proxied = async (of: LocalChain = chain): Promise<FaultProxy> =>
  keep(await startFaultProxy({ url: of.anvil.url, seed: 6 }))

/** A consumer that has the head and some blocks more, over the proxy. */
async function followed(proxy: FaultProxy, blocks: number, of: LocalChain = chain): Promise<Consumer> {
  const consumer = await follow(of, { config: { endpoints: endpointsOf(proxy.url) } })
  await consumer.untilTip(await latest(of))
  for (let n = 0; n < blocks; n++) await mineTransactions(of, EVERY_KIND.slice(0, 1 + (n % 2)))
  await consumer.untilTip(await latest(of))
  return consumer
}

describe('R2: the same height and another hash', () => {
  it('R2: is found by the hash, without another block', async () => {
    const consumer = await followed(await proxied(), 3)
    const before = consumer.chain.map(refOf)
    await reorg(chain, 1)
    const head = await latest(chain)
    expect(Number(head.number)).toBe(before.at(-1)?.number)
    await consumer.untilTip(head)
    expect(consumer.of('reorg')).toMatchObject([
      { ancestor: before.at(-2)?.hash, blocks: [{ hash: head.hash }] },
    ])
    await expectFinalChain(consumer, chain)
  })
})

describe('R4: a reorganisation while another is being fetched', () => {
  it('R4: converges, whichever call it arrives with', async () => {
    const proxy = await proxied()
    const consumer = await followed(proxy, 12)
    for (const method of ['eth_getBlockByHash', 'eth_getBlockByNumber', 'eth_getBlockReceipts']) {
      for (const depth of [2, 5, 9]) {
        // A call of the feed may come before the first is over, and two at once leave anvil with blocks missing.
        const first = Promise.withResolvers<void>()
        let second: Promise<void> | undefined
        const during = proxy.add({
          method,
          params: ([which]) => which !== 'latest' && which !== 'finalized',
          nth: 1,
          fault: { kind: 'wait', until: () => (second = first.promise.then(() => reorg(chain, depth))) },
        })
        await reorg(chain, 7)
        await mine(chain, 3)
        first.resolve()
        await expect.poll(() => during.fired()).toBe(1)
        during.remove()
        await second
        await mineTransactions(chain, [{ to: LOGGER }])
        await consumer.untilTip(await latest(chain))
        await expectFinalChain(consumer, chain, { about: `${method} ${depth}` })
      }
    }
  })
})

describe('R7: a reorganisation below the finalized block', () => {
  it('R7: halts that chain in its last state, and no other', async () => {
    const other = keep(await startLocalChain({ chainId: 31_338 }))
    await mine(other, 3)
    const [proxy, otherProxy] = [await proxied(), await proxied(other)]
    const consumer = await followed(proxy, 6)
    const untouched = await followed(otherProxy, 2, other)
    const final = Number((await latest(chain)).number) - 2
    proxy.add({ fault: { kind: 'tags', tags: { finalized: final } } })
    await mine(chain)
    await consumer.until('finality', ({ finalized }) => finalized?.number === final)
    await consumer.untilTip(await latest(chain))
    const before = consumer.chain.map(refOf)
    await reorg(chain, 6)
    await mine(chain)
    await consumer.until('HALTED', ({ health }) => health?.reasons[0] === 'HALTED')
    expect(consumer.health?.status).toBe('UNAVAILABLE')
    expect(consumer.chain.map(refOf)).toEqual(before)
    await mineTransactions(other, EVERY_KIND)
    await reorg(other, 1)
    await untouched.untilTip(await latest(other))
    await expectFinalChain(untouched, other)
    expect(untouched.healths.flatMap(({ reasons }) => reasons)).not.toContain('HALTED')
  })
})

describe('R8: answers from before a reorganisation', () => {
  it('R8: from a cache in front of the node do not bring the old branch back', async () => {
    const proxy = await proxied()
    const consumer = await followed(proxy, 0)
    // Both the numbers and what belongs to the hashes are asked for once, so that the cache has them.
    const first = Number((await latest(chain)).number)
    await mine(chain, 10)
    await consumer.untilTip(await latest(chain))
    await reorg(chain, 8)
    const stale = proxy.add({
      method: ['eth_getBlockByNumber', 'eth_getBlockReceipts'],
      params: ([which]) => which !== 'latest' && which !== 'finalized' && which !== '0x0',
      nth: [1, 12],
      fault: { kind: 'replay', which: 'first' },
    })
    await mine(chain, 3)
    await consumer.untilTip(await latest(chain))
    expect(stale.fired()).toBeGreaterThan(0)
    expect(consumer.tip?.number).toBe(first + 13)
    await expectFinalChain(consumer, chain)
  })
})

describe('R9: logs of the old fork for the new hash', () => {
  it('R9: are refused, and the correct ones accepted when they arrive', async () => {
    const proxy = await proxied()
    const consumer = await followed(proxy, 2)
    await mineTransactions(chain, EVERY_KIND)
    const old = await latest(chain)
    await consumer.untilTip(old)
    const receipts = await chain.rpc<readonly Readonly<Record<string, unknown>>[]>(
      'eth_getBlockReceipts',
      old.hash,
    )
    await chain.rpc('anvil_rollback', 1)
    const lie = proxy.add({
      method: 'eth_getBlockReceipts',
      fault: {
        kind: 'change',
        change: (_result, { params: [blockHash] }) =>
          receipts.map(receipt => ({
            ...receipt,
            blockHash,
            logs: (receipt['logs'] as readonly object[]).map(log => ({ ...log, blockHash })),
          })),
      },
    })
    // The same transactions but one, at the same height.
    await mineTransactions(chain, EVERY_KIND.slice(0, 4))
    const head = await latest(chain)
    expect(head.number).toBe(old.number)
    await expect.poll(() => lie.fired()).toBeGreaterThan(1)
    expect(consumer.tip?.hash).toBe(old.hash)
    lie.remove()
    await consumer.untilTip(head)
    await expectFinalChain(consumer, chain)
  })
})

describe('R14: a pool created in a block that is orphaned', () => {
  it('R14: disappears with it, and returns with the block that creates it again', async () => {
    const client = connect(chain.anvil.url)
    const factory = await deployV2Factory(client, 'anywhere')
    const tokens = [
      await deployToken(client, { symbol: 'A', decimals: 18 }),
      await deployToken(client, { symbol: 'B', decimals: 6 }),
    ] as const
    const deployment: DeploymentConfig = {
      deploymentId: 'v2',
      family: 'amm_v2',
      factoryAddress: factory.address.toLowerCase() as Address,
      deploymentBlock: 0,
      initCodeHash: null,
      fee: { numerator: 997, denominator: 1000 },
    }
    const consumer = await followed(await proxied(), 1)
    const pools = (): readonly string[] =>
      consumer.chain.flatMap(block =>
        decodeBlock(
          [deployment],
          block,
          () => null,
          () => true,
        ).map(({ pool }) => pool),
      )
    expect(pools()).toEqual([])
    const pair = (await createV2Pair(client, factory, tokens)).address.toLowerCase()
    await consumer.untilTip(await latest(chain))
    expect(pools()).toEqual([pair])
    await reorg(chain, 1)
    await consumer.untilTip(await latest(chain))
    expect(pools()).toEqual([])
    expect(await chain.rpc('eth_getCode', pair, 'latest')).toBe('0x')
    await createV2Pair(client, factory, tokens)
    await consumer.untilTip(await latest(chain))
    expect(pools()).toEqual([pair])
    await expectFinalChain(consumer, chain)
  })
})

describe('R16: two chains reorganise at once', () => {
  it('R16: and neither is affected by the other', async () => {
    const other = keep(await startLocalChain({ chainId: 31_338 }))
    await mine(other, 10)
    const consumers = [
      await followed(await proxied(), 6),
      await followed(await proxied(other), 6, other),
    ] as const
    await Promise.all([reorg(chain, 5), reorg(other, 3)])
    await Promise.all([mineTransactions(chain, EVERY_KIND), mineTransactions(other, [{ to: LOGGER }])])
    for (const [at, of] of [chain, other].entries()) {
      const consumer = consumers[at] as Consumer
      await consumer.untilTip(await latest(of))
      await expectFinalChain(consumer, of)
      expect(consumer.of('reorg').length).toBeGreaterThan(0)
    }
    const [ours, theirs] = consumers.map(consumer => consumer.chain.map(({ hash }) => hash))
    expect(ours?.filter(hash => theirs?.includes(hash))).toEqual([])
    expect((await blockAt(chain, 0)).hash).not.toBe((await blockAt(other, 0)).hash)
  })
})
