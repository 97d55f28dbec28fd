/** The checks of a service on a real client, in order; each continues on the chain as the previous one left it. */
import assert from 'node:assert/strict'
import type { Envelope, PricedQuote } from '@assay/sdk'
import { diagnose } from '../../packages/server/doctor/doctor.ts'
import { isSwap, isTokenRetract } from '../../packages/server/endToEnd/testing/record.ts'
import type { Geth } from './geth.ts'
import type { Trade } from './market.ts'
import type { ServedMarket } from './servedMarket.ts'

export type Scene = {
  readonly geth: Geth
  readonly served: ServedMarket
  /** A second service on the same chain, with the HTTP endpoint only. */
  readonly httpAlone: ServedMarket
}
export type Check = { readonly name: string; readonly run: (scene: Scene) => Promise<string> }

const REORG_DEPTH = 3
/** Dollars sold in each trade; all different, so each leads to its own price. */
const USD = { swap: 3000, meanwhile: 500, afterNode: 700, orphaned: 9000 }

export const CHECKS: readonly Check[] = [
  { name: 'doctor finds both endpoints usable', run: doctorAgrees },
  { name: 'every token has a price', run: everyTokenPriced },
  { name: 'a swap changes the price, and the pool has the reserves of the chain', run: swapChangesPrice },
  { name: 'blocks are proven by their receipts: the chain is HEALTHY', run: chainIsHealthy },
  { name: 'finality follows the tag', run: finalityFollows },
  { name: 'a restart of the service resumes with the trades made meanwhile', run: serviceRestarts },
  { name: 'a restart of the client is survived', run: clientRestarts },
  { name: `a reorganisation of ${REORG_DEPTH} blocks takes their swap back`, run: reorganises },
  { name: 'a service with the HTTP endpoint alone holds the same', run: httpAloneAgrees },
  { name: 'a client that resumed from its cursor missed nothing', run: nothingMissed },
]

async function doctorAgrees({ served }: Scene): Promise<string> {
  const { healthy, chains } = await diagnose(served.config)
  const remarks = chains.flatMap(({ endpoints, faults }) => [
    ...faults,
    ...endpoints.flatMap(({ name, checks }) =>
      checks.flatMap(({ name: of, status, value }) =>
        status === 'ok' ? [] : [`${name}, ${of}: ${status}, ${value}`],
      ),
    ),
  ])
  assert.ok(healthy, remarks.join('; '))
  return remarks.length === 0 ? 'nothing to remark' : remarks.join('; ')
}

async function everyTokenPriced({ served }: Scene): Promise<string> {
  const started = performance.now()
  const prices: string[] = []
  for (const symbol of ['LARK', 'MOTH', 'WETH'])
    prices.push(`${symbol} ${(await served.untilPriced(symbol)).price_usd.display}`)
  return `${prices.join(', ')} after ${((performance.now() - started) / 1000).toFixed(1)} s`
}

async function swapChangesPrice({ served }: Scene): Promise<string> {
  const before = await served.untilPriced('MOTH')
  const trade = await served.market.trade(USD.swap)
  await served.hear('its swap', isSwapOf(served, trade))
  const after = await served.untilPriced('MOTH', trade.blockNumber)
  assert.notEqual(textOf(after), textOf(before))
  const { state } = await served.client.fetchPool({
    chain_id: served.chainId,
    pool_address: pairOf(served),
  })
  assert.deepEqual(state?.reserves, await served.market.reserves())
  return `${textOf(before)} to ${textOf(after)} in block ${trade.blockNumber}`
}

async function chainIsHealthy({ served }: Scene): Promise<string> {
  const health = await served.untilHealth('a HEALTHY chain', ({ status }) => status === 'HEALTHY')
  const endpoints = health.endpoints.map(each => `${each.name} ${each.status} ${each.p50_ms} ms`)
  return `head ${health.head?.block_number}, processed ${health.processed?.block_number}; ${endpoints.join(', ')}`
}

async function finalityFollows({ served }: Scene): Promise<string> {
  const tagged = async () => Number((await served.market.client.getBlock({ blockTag: 'finalized' })).number)
  const least = await served.until('a finalized block above the first', async () => {
    const number = await tagged()
    return number > 0 && number
  })
  const { finalized } = await served.untilHealth(
    `finalized at ${least} or above`,
    health => (health.finalized?.block_number ?? -1) >= least,
  )
  const number = finalized?.block_number ?? -1
  const { hash } = await served.market.client.getBlock({ blockNumber: BigInt(number) })
  assert.equal(finalized?.block_hash, hash)
  assert.ok(number <= (await tagged()), 'finalized is ahead of the tag')
  return `block ${number}`
}

async function serviceRestarts({ served }: Scene): Promise<string> {
  await served.stop()
  const trade = await served.market.trade(USD.meanwhile)
  await served.start()
  await served.hear('the swap made meanwhile', isSwapOf(served, trade))
  await served.untilPriced('MOTH', trade.blockNumber)
  return `the swap of block ${trade.blockNumber} is in the log`
}

async function clientRestarts({ geth, served }: Scene): Promise<string> {
  await geth.stop()
  const unwell = await served.untilHealth('health that reports it', ({ status }) => status !== 'HEALTHY')
  await geth.start()
  const trade = await served.market.trade(USD.afterNode)
  await served.hear('a swap after it', isSwapOf(served, trade))
  await served.untilPriced('MOTH', trade.blockNumber)
  await served.untilHealth('HEALTHY again', ({ status }) => status === 'HEALTHY')
  return `${unwell.status} (${unwell.reasons.join(', ')}), then HEALTHY with the swap of block ${trade.blockNumber}`
}

/** geth rewinds its own chain and then builds another branch without the trade. */
async function reorganises({ served }: Scene): Promise<string> {
  const { client } = served.market
  const before = await served.untilPriced('MOTH')
  const trade = await served.market.trade(USD.orphaned)
  await served.hear('the swap', isSwapOf(served, trade))
  const head = Number(await client.getBlockNumber({ cacheTime: 0 }))
  const target = Math.min(trade.blockNumber - 1, head - REORG_DEPTH)
  await client.request({ method: 'debug_setHead', params: [`0x${target.toString(16)}`] } as never)
  const isBack = isTokenRetract(served.market.token('MOTH'))
  await served.hear('its retraction', record => isBack(record) && record.payload.reason === 'REORG')
  const orphaned = served.heard
    .filter(isSwap(pairOf(served)))
    .filter(({ payload }) => payload.block_hash === trade.blockHash && payload.finality === 'orphaned')
  assert.equal(orphaned.length, 1)
  await served.until('the price of before', async () => {
    const now = await served.quote('MOTH')
    return now !== null && textOf(now) === textOf(before)
  })
  return `debug_setHead from ${head} to ${target}; block ${trade.blockNumber} is orphaned`
}

async function httpAloneAgrees({ served, httpAlone }: Scene): Promise<string> {
  const price = await served.until('the same price', async () => {
    const [one, other] = await Promise.all([served.quote('MOTH'), httpAlone.quote('MOTH')])
    return one !== null && other !== null && textOf(one) === textOf(other) && textOf(one)
  })
  const { head, processed } = await httpAlone.untilHealth('HEALTHY', ({ status }) => status === 'HEALTHY')
  return `${price}; head ${head?.block_number}, processed ${processed?.block_number}`
}

async function nothingMissed({ served }: Scene): Promise<string> {
  const sequences = served.heard.map(record => record.stream_sequence)
  assert.deepEqual(
    sequences,
    sequences.map((_, at) => at + 1),
  )
  return `${sequences.length} records without a gap`
}

const textOf = ({ price_usd }: PricedQuote): string => price_usd.display

const pairOf = ({ market }: ServedMarket): `0x${string}` =>
  market.pool('USDT', 'MOTH').address.toLowerCase() as `0x${string}`

const isSwapOf =
  (served: ServedMarket, trade: Trade) =>
  (record: Envelope): boolean =>
    isSwap(pairOf(served))(record) && record.payload.block_hash === trade.blockHash
