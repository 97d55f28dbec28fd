/**
 * A chain of the OP stack, whose trades come half by deposits: receipts of type 0x7e prove their blocks, what they trade is
 * priced, and a reorganisation and a restart are as on any other chain.
 */
import { type PricedQuote, verify } from '@assay/sdk'
import { beforeAll, expect, it } from 'vitest'
import { planWith } from './testing/plan.ts'
import { isPoolUpsert, isSwap, isTokenRetract } from './testing/record.ts'
import { chain, client, serve, serveChain, service } from './testing/servedChain.ts'
import type { Block, Hex } from './testing/testChain.ts'
import { openTestService } from './testing/testService.ts'
import { until } from './testing/until.ts'

const BASE = 8453
const DEPOSIT = '0x7E'

let pair: Hex

serveChain({ ...planWith(), chainId: BASE, isOpStack: true })
beforeAll(() => {
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
})

const moth = (): Promise<PricedQuote> =>
  chain.untilMining('a price of MOTH', async () => {
    const quote = await client.quoteToken({ chain_id: BASE, token_address: chain.token('MOTH') })
    return quote.state === 'PRICED' ? quote : null
  })

const kindsOf = async ({ hash }: Block): Promise<string[]> => {
  const receipts = await chain.rpc<{ type: string }[]>('eth_getBlockReceipts', hash)
  return receipts.map(({ type }) => type)
}

const swapsOf = async ({ number }: Block) => {
  const range = { from_block: number, to_block: number }
  const { events } = await client.fetchPoolEvents({
    chain_id: BASE,
    pool_address: pair,
    kind: 'SWAP',
    ...range,
  })
  return events.map(({ kind, proof }) => [kind, proof])
}

it('a trade in a deposit is proven by the receipts of its block, and priced', async () => {
  await service.untilWell()
  const [before, after] = [await moth(), await service.head()]
  const block = await chain.runByDeposit(chain.sellV2(pair, 'MOTH', 5000))
  expect(await kindsOf(block)).toEqual([DEPOSIT])
  await service.untilRecord('the swap', after, isSwap(pair))
  await service.untilTip(block)
  expect(await swapsOf(block)).toEqual([['SWAP', 'receipts']])
  const now = await moth()
  expect(now.price_usd).not.toEqual(before.price_usd)
  const { differences, unchecked } = await verify(now, { rpc: chain.world.url })
  expect({ differences, unchecked }).toEqual({ differences: [], unchecked: [] })
  expect(service.config.chains[0]?.proof).toEqual({ header: 'standard', receipts: 'op_stack' })
})

it('a block may have both: deposits and transactions of its own', async () => {
  await service.untilWell()
  await chain.rpc('evm_setAutomine', false)
  const own = chain.run(chain.sellV2(pair, 'MOTH', 700))
  await until('it in the pool of transactions', async () => {
    const { pending } = await chain.rpc<{ pending: Hex }>('txpool_status')
    return Number(pending) === 1
  })
  await chain.runByDeposit(chain.sellV2(pair, 'USDT', 900))
  await own
  const block = await chain.head()
  expect((await kindsOf(block)).sort()).toEqual(['0x2', DEPOSIT])
  await service.untilTip(block)
  expect(await swapsOf(block)).toEqual([
    ['SWAP', 'receipts'],
    ['SWAP', 'receipts'],
  ])
})

it('a deposit undone by a reorganisation is withdrawn with everything derived from it', async () => {
  await service.untilWell()
  const [before, after] = [await moth(), await service.head()]
  await service.untilTip(await chain.runByDeposit(chain.sellV2(pair, 'MOTH', 40_000)))
  await service.untilRecord('the pool', after, isPoolUpsert(pair))
  expect((await moth()).price_usd).not.toEqual(before.price_usd)
  await service.untilTip(await chain.reorg(1))
  await service.untilRecord('the retraction', after, isTokenRetract(chain.token('MOTH')))
  const now = await moth()
  expect(now.price_usd).toEqual(before.price_usd)
  expect((await verify(now, { rpc: chain.world.url })).differences).toEqual([])
})

it('a restart continues from the store, over deposits it missed', async () => {
  await service.untilWell()
  const before = await moth()
  await service.close()
  const block = await chain.runByDeposit(chain.sellV2(pair, 'MOTH', 9000))
  await serve(openTestService(chain))
  await service.untilTip(block)
  expect(await swapsOf(block)).toEqual([['SWAP', 'receipts']])
  const now = await moth()
  expect(now.price_usd).not.toEqual(before.price_usd)
  expect((await verify(now, { rpc: chain.world.url })).differences).toEqual([])
  expect(service.faults).toEqual([])
})
