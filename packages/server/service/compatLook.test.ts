/** look */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { planWith, token } from './testing/plan.ts'
import { startTestChain, type TestChain } from './testing/testChain.ts'
import { startTestService, type TestService } from './testing/testService.ts'
let chain: TestChain
let service: TestService
beforeAll(async () => {
  chain = await startTestChain(
    planWith({
      tokens: [token(0x52, 'THIN', 1)],
      pools: [{ deployment: 'uniswap-v2', pair: ['USDC', 'THIN'], usd: 60 }],
    }),
  )
  service = await startTestService(chain, {
    tokens: ['LARK', 'MOTH', 'THIN'],
    compat: { listen: { port: 0 } },
  })
})
afterAll(async () => {
  await service?.close()
  await chain?.close()
})
it('look', async () => {
  await service.untilWell()
  const { roomyClient } = await import('./testing/roomy.ts')
  await roomyClient(service)
  const key = await service.key(['read'], 'roomy')
  await chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDC', 'LARK'), 'LARK', 100))
  await service.untilTip(await chain.head())
  const lark = chain.token('LARK'),
    moth = chain.token('MOTH'),
    thin = chain.token('THIN'),
    usdc = chain.token('USDC')
  const pool = chain.pool('uniswap-v2', 'USDC', 'LARK'),
    pool3 = chain.pool('uniswap-v3', 'WETH', 'LARK')
  const cg = '/compat/coingecko',
    dl = '/compat/defillama',
    now = Math.floor(Date.now() / 1000)
  const urls = [
    `${cg}/ping`,
    `${cg}/asset_platforms`,
    `${cg}/onchain/networks`,
    `${cg}/onchain/networks/eth/dexes`,
    `${cg}/onchain/simple/networks/eth/token_price/${lark},${thin},0x12,0x${'d7'.repeat(20)},${usdc}?include_24hr_price_change=true&include_24hr_vol=true&include_total_reserve_in_usd=true&include_market_cap=true`,
    `${cg}/simple/token_price/ethereum?contract_addresses=${lark},${moth},${thin}&vs_currencies=usd,eur&include_24hr_change=true&include_24hr_vol=true&include_last_updated_at=true&include_market_cap=true&precision=4`,
    `${cg}/onchain/networks/eth/tokens/${lark}`,
    `${cg}/onchain/networks/eth/tokens/multi/${lark},${moth}`,
    `${cg}/onchain/networks/eth/pools/${pool}`,
    `${cg}/onchain/networks/eth/pools/${pool3}`,
    `${cg}/onchain/networks/eth/pools/${pool}/ohlcv/minute?aggregate=5`,
    `${cg}/onchain/networks/eth/tokens/${lark}/ohlcv/hour`,
    `${cg}/onchain/networks/eth/tokens/${lark}/pools`,
    `${cg}/onchain/search/pools?query=LARK`,
    `${cg}/coins/list`,
    `${cg}/onchain/nothing`,
    `${cg}/onchain/networks/solana/pools/x`,
    `${dl}/prices/current/ethereum:${lark},ethereum:${thin},coingecko:bitcoin,base:${lark},ethereum:0x${'0'.repeat(40)}`,
    `${dl}/prices/historical/${now - 1}/ethereum:${lark}`,
    `${dl}/prices/historical/${now - 86400}/ethereum:${lark}`,
    `${dl}/batchHistorical?coins=${encodeURIComponent(JSON.stringify({ ['ethereum:' + lark]: [now - 1, now - 100000] }))}`,
    `${dl}/chart/ethereum:${lark}?span=4&period=2s`,
    `${dl}/percentage/ethereum:${lark}?period=1s`,
    `${dl}/prices/first/ethereum:${lark},ethereum:${moth}`,
    `${dl}/block/ethereum/${now}`,
    `${dl}/block/ethereum/5`,
    `${dl}/tvl/aave`,
    '/compat/udf/config',
    '/compat/udf/time',
    `/compat/udf/symbols?symbol=1:${lark}`,
    `/compat/udf/search?query=la`,
    `/compat/udf/history?symbol=1:${lark}&resolution=1&from=0&to=${now + 60}`,
    `/compat/udf/history?symbol=1:${lark}&resolution=1&from=0&to=100&countback=3`,
  ]
  console.log(
    await service.store.readVerified(1, [pool, pool3]),
    (await service.store.readCheckpoint(1))?.entities
      .filter(([k]) => k === 'pool/' + pool)
      .map(([, t]) => t.slice(0, 900)),
  )
  for (const u of urls.slice(8)) {
    const r = await fetch(service.url + u, { headers: { 'x-cg-pro-api-key': key } })
    console.log(
      u.slice(0, 140),
      '\n =>',
      r.status,
      r.headers.get('x-assay-reason') ?? '',
      '\n',
      (await r.text()).slice(0, 1800),
    )
  }
  for (const u of [
    '/ping',
    '/api/v3/ping',
    '/onchain/networks',
    '/v1/chains',
    `/prices/current/ethereum:${lark}`,
    '/healthz',
  ]) {
    const r = await fetch(service.service.compatUrl + u, { headers: { 'x-cg-demo-api-key': key } })
    console.log('ROOT', u, r.status, (await r.text()).slice(0, 300))
  }
  const no = await fetch(service.url + `${cg}/ping`)
  console.log(no.status, [...no.headers], await no.text())
  expect(service.faults).toEqual([])
})
