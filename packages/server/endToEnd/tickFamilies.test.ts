/**
 * Pools of the families beside v2 and v3, made by their published contracts on a test chain: the service finds them, prices
 * by them, follows their trades through a reorganisation and a restart, and its output equals the chain's.
 */
import { type TokenQuote, verify } from '@assay/sdk'
import {
  ALGEBRA_POOL_INIT_CODE_HASH,
  createAlgebraPool,
  createPancakePool,
  deployAlgebraFactory,
  deployPancakeFactory,
  PANCAKE_POOL_INIT_CODE_HASH,
  send,
  trader,
  v3PoolAbi,
} from '@assay/world'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, ask } from './testing/answer.ts'
import { CHAIN_ID, planWith, token } from './testing/plan.ts'
import { type Hex, startTestChain, type TestChain } from './testing/testChain.ts'
import { startTestService, type TestService } from './testing/testService.ts'
import { until } from './testing/until.ts'

type Family = {
  readonly family: string
  readonly symbol: string
  make(pair: readonly [Hex, Hex]): Promise<Hex>
  mint(pool: Hex, lower: number, upper: number, liquidity: bigint): Hex
}

/** At one unit of either token for one of the other. */
const EVEN = 1n << 96n
const WIDE = 60_000
const LIQUIDITY = 10n ** 13n

let chain: TestChain
let service: TestService
const deployments: object[] = []
const pools = new Map<string, Hex>()
let families: readonly Family[]

beforeAll(async () => {
  chain = await startTestChain(planWith({ tokens: [token(0x71, 'PAN', 1, 6), token(0x72, 'ALG', 1, 6)] }))
  const { client } = chain.world
  const [pancakes, algebras] = [await deployPancakeFactory(client), await deployAlgebraFactory(client)]
  families = [
    {
      family: 'amm_v3_pancake',
      symbol: 'PAN',
      make: pair => createPancakePool(client, pancakes, pair, 2500),
      mint: trader.mintV3,
    },
    {
      family: 'amm_algebra_v1',
      symbol: 'ALG',
      make: pair => createAlgebraPool(client, algebras, pair),
      mint: trader.mintAlgebra,
    },
  ]
  for (const [at, { factory, deployer }] of [pancakes, algebras].entries())
    deployments.push({
      deployment_id: families[at]?.family,
      family: families[at]?.family,
      factory_address: factory,
      deployer_address: deployer,
      deployment_block: 0,
      init_code_hash: [PANCAKE_POOL_INIT_CODE_HASH, ALGEBRA_POOL_INIT_CODE_HASH][at],
    })
  for (const each of families) {
    const { family, symbol } = each
    const pool = await each.make([chain.token('USDC'), chain.token(symbol)])
    const data = encodeFunctionData({ abi: v3PoolAbi, functionName: 'initialize', args: [EVEN] })
    await send(client, { to: pool, data })
    await chain.run(each.mint(pool, -WIDE, WIDE, LIQUIDITY))
    pools.set(family, pool.toLowerCase() as Hex)
  }
  service = await startTestService(chain, { deployments })
}, 120_000)
afterAll(async () => {
  await service?.close()
  await chain?.close()
})

const poolOf = (family: string) => pools.get(family) as Hex

async function asked(path: string): Promise<Answer> {
  return ask(`${service.url}/v1/${path}`, { key: await service.key(['read']) })
}
const quoteOf = async (symbol: string): Promise<TokenQuote> =>
  (await asked(`quote/token/${CHAIN_ID}/${chain.token(symbol)}`)).body as TokenQuote

/** Some trades in a block each, so that a fee may move. */
async function trade({ family }: Family): Promise<void> {
  const pool = poolOf(family)
  for (const [isZero, amount] of [
    [true, 5_000_000n],
    [false, 90_000_000n],
    [true, 40_000_000_000n],
  ] as const)
    await chain.run(trader.swapV3(pool, isZero, amount))
}

test.each(['amm_v3_pancake', 'amm_algebra_v1'])(
  'R-find-1, R-evidence-1: a pool of %s is found, followed and priced, and verifies on the chain',
  async family => {
    const own = families.find(each => each.family === family) as Family
    await trade(own)
    await service.untilTip(await chain.head())
    const quote = await until('a price', async () => {
      const answer = await quoteOf(own.symbol)
      return answer.state === 'PRICED' && answer
    })
    if (quote.state !== 'PRICED') return expect.unreachable('it is priced')
    expect(quote.routes.map(({ hops }) => hops.map(hop => [hop.family, hop.pool_address]))).toEqual([
      [[family, poolOf(family)]],
    ])
    const { differences, unchecked } = await verify(quote, { rpc: chain.world.url })
    expect({ differences, unchecked }).toEqual({ differences: [], unchecked: [] })
    const { body } = await asked(`pools/${CHAIN_ID}/${poolOf(family)}/events?kind=SWAP`)
    expect((body as { events: object[] }).events).toHaveLength(3)
  },
)

test.each(['amm_v3_pancake', 'amm_algebra_v1'])(
  'R-sell-1: a token is bought and sold in its pool of %s, and verify repeats it',
  async family => {
    const own = families.find(each => each.family === family) as Family
    const quote = await chain.untilMining(`a simulated sale of ${own.symbol}`, async () => {
      const found = await quoteOf(own.symbol)
      return found.state === 'PRICED' && found.sellability?.method === 'SIMULATE' ? found : null
    })
    expect(quote.sellability).toMatchObject({ status: 'SELLABLE', buy_tax_bps: 0, sell_tax_bps: 0 })
    expect(quote.sellability?.path.at(-1)).toMatchObject({ family })
    const { differences, unchecked } = await verify(quote, { rpc: chain.world.url })
    expect({ differences, unchecked }).toEqual({ differences: [], unchecked: [] })
  },
)

test('R-reorg-1: state undone by a reorganisation looks as if it had never been, and a restart agrees', async () => {
  await service.untilTip(await chain.reorg(2))
  const said = async () => {
    const answers = await Promise.all(
      families.map(async ({ family }) => (await asked(`pools/${CHAIN_ID}/${poolOf(family)}`)).body),
    )
    return answers.map(body => {
      const { fee_ppm, state } = body as { fee_ppm: number; state: { slot: object; reason: string | null } }
      return { fee_ppm, slot: state.slot, reason: state.reason }
    })
  }
  const before = await said()
  await service.close()
  service = await startTestService(chain, { deployments })
  expect(await said()).toEqual(before)
  for (const { symbol } of families) {
    const { differences } = await verify(await quoteOf(symbol), { rpc: chain.world.url })
    expect(differences).toEqual([])
  }
})
