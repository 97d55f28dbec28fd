import { encodeFunctionData, getContractAddress, type Hex, parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Anvil, startAnvil } from './anvil.ts'
import { type Client, connect, DEV_ACCOUNT, send } from './client.ts'
import {
  priceFeedAbi,
  testTokenAbi,
  v2FactoryAbi,
  v2PairAbi,
  v3FactoryAbi,
  v3PoolAbi,
} from './contracts/abi.ts'
import { addressOf, deployPriceFeed, deployToken, deployTrader } from './deploy.ts'
import * as trader from './trader.ts'
import { createV2Pair, deployV2Factory, V2_FACTORY_ORIGIN, V2_PAIR_INIT_CODE_HASH } from './v2.ts'
import {
  createV3Pool,
  deployV3Factory,
  enableFeeAmount,
  initialiseV3Pool,
  publishedV3PoolInitCodeHash,
  V3_FACTORY_ORIGIN,
  V3_POOL_INIT_CODE_HASH,
} from './v3.ts'

// Chain 1, from chain-facts: the addresses the whole world agrees on.
const V3_FACTORY = '0x1F98431c8aD98523631AE4a59f267346ea31F984'
const V2_FACTORY = '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f'
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const WETH = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'
const V3_USDC_WETH_500 = '0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640'
const V2_USDC_WETH = '0xB4e16d0168e52d35CaCD2c6185b44281Ec28C9Dc'
// Chain 43114, whose v3 factory came from another account.
const AVALANCHE_V3_FACTORY = '0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD'

const Q96 = 1n << 96n
const GAS = 1_000_000_000n

let anvil: Anvil
let client: Client
beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1, gasLimit: GAS })
  client = connect(anvil.url)
})
afterAll(() => anvil.close())

describe('published contracts', () => {
  it('have the init code hashes of the live chains', async () => {
    expect(publishedV3PoolInitCodeHash()).toBe(V3_POOL_INIT_CODE_HASH)
    expect((await deployV2Factory(client, 'anywhere')).pairInitCodeHash).toBe(V2_PAIR_INIT_CODE_HASH)
  })

  it("sit at chain 1's addresses, and so do the pools of chain 1's tokens", async () => {
    expect(addressOf(V3_FACTORY_ORIGIN)).toBe(V3_FACTORY)
    expect(addressOf(V2_FACTORY_ORIGIN)).toBe(V2_FACTORY)
    const v3 = await deployV3Factory(client)
    const v2 = await deployV2Factory(client)
    expect([v3, v2.address].map(address => address.toLowerCase())).toEqual([
      V3_FACTORY.toLowerCase(),
      V2_FACTORY.toLowerCase(),
    ])
    await deployToken(client, { symbol: 'USDC', decimals: 6 }, USDC)
    await deployToken(client, { symbol: 'WETH', decimals: 18 }, WETH)
    const pool = await createV3Pool(client, v3, [WETH, USDC], 500)
    expect(pool).toEqual({
      address: V3_USDC_WETH_500,
      factory: v3,
      token0: USDC,
      token1: WETH,
      feePpm: 500,
      tickSpacing: 10,
    })
    expect((await createV2Pair(client, v2, [WETH, USDC])).address).toBe(V2_USDC_WETH)
  })

  it('work at any other address as they do at their own', async () => {
    const factory = await deployV3Factory(client, AVALANCHE_V3_FACTORY)
    expect(factory).toBe(AVALANCHE_V3_FACTORY)
    const read = { address: factory, abi: v3FactoryAbi } as const
    expect(await client.readContract({ ...read, functionName: 'owner' })).toBe(DEV_ACCOUNT)
    const spacings = [500, 3000, 10000, 100].map(feePpm =>
      client.readContract({ ...read, functionName: 'feeAmountTickSpacing', args: [feePpm] }),
    )
    expect(await Promise.all(spacings)).toEqual([10, 60, 200, 0])
    await enableFeeAmount(client, factory, 100, 1)
    const tokens = [await token('A'), await token('B')] as const
    const pool = await createV3Pool(client, factory, tokens, 100)
    expect(pool.tickSpacing).toBe(1)
    await initialiseV3Pool(client, pool, Q96)
    const [sqrtPriceX96, tick] = await client.readContract({
      address: pool.address,
      abi: v3PoolAbi,
      functionName: 'slot0',
    })
    expect([sqrtPriceX96, tick]).toEqual([Q96, 0])
    expect(await client.getTransactionCount({ address: factory })).toBe(2)

    const second = await deployV2Factory(client, '0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6')
    const pair = await createV2Pair(client, second, tokens)
    const setter = { address: second.address, abi: v2FactoryAbi, functionName: 'feeToSetter' } as const
    expect(await client.readContract(setter)).toBe(DEV_ACCOUNT)
    expect(
      await client.readContract({ address: pair.address, abi: v2PairAbi, functionName: 'getReserves' }),
    ).toEqual([0n, 0n, 0])
  })
})

describe('our contracts', () => {
  it('let a token be minted without limit and change its own behaviour', async () => {
    const address = await token('DOG')
    const half = 1n << 255n
    const other = getContractAddress({ from: DEV_ACCOUNT, nonce: 99_999n })
    for (const holder of [DEV_ACCOUNT, other]) {
      await send(client, {
        to: address,
        data: encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args: [holder, half] }),
      })
    }
    await send(client, {
      to: address,
      data: encodeFunctionData({ abi: testTokenAbi, functionName: 'setDecimals', args: [9] }),
    })
    await send(client, {
      to: address,
      data: encodeFunctionData({ abi: testTokenAbi, functionName: 'setSymbol', args: ['CAT'] }),
    })
    const read = { address, abi: testTokenAbi } as const
    expect(await client.readContract({ ...read, functionName: 'balanceOf', args: [other] })).toBe(half)
    expect(await client.readContract({ ...read, functionName: 'decimals' })).toBe(9)
    expect(await client.readContract({ ...read, functionName: 'symbol' })).toBe('CAT')
  })

  it('let a price feed answer anything at any time', async () => {
    const address = await deployPriceFeed(client, { description: 'USDC / USD', decimals: 8 })
    const read = { address, abi: priceFeedAbi } as const
    await expect(client.readContract({ ...read, functionName: 'latestRoundData' })).rejects.toThrow('No data')
    const answers: readonly Hex[] = [
      encodeFunctionData({
        abi: priceFeedAbi,
        functionName: 'setAnswer',
        args: [99_990_000n, 1_700_000_000n],
      }),
      encodeFunctionData({ abi: priceFeedAbi, functionName: 'setRound', args: [-1n, 5n, 7n] }),
    ]
    for (const data of answers) await send(client, { to: address, data })
    expect(await client.readContract({ ...read, functionName: 'latestRoundData' })).toEqual([
      2n,
      -1n,
      5n,
      7n,
      2n,
    ])
    expect(await client.readContract({ ...read, functionName: 'getRoundData', args: [1n] })).toEqual([
      1n,
      99_990_000n,
      1_700_000_000n,
      1_700_000_000n,
      1n,
    ])
    expect(await client.readContract({ ...read, functionName: 'decimals' })).toBe(8)
  })

  it('keep the last 64 rounds of a price feed, and report that older ones are gone', async () => {
    const address = await deployPriceFeed(client, { description: 'USDC / USD', decimals: 8 })
    const read = { address, abi: priceFeedAbi } as const
    for (let round = 1n; round <= 66n; round++)
      await send(client, {
        to: address,
        data: encodeFunctionData({
          abi: priceFeedAbi,
          functionName: 'setAnswer',
          args: [round, 10n * round],
        }),
      })
    const roundAt = (round: bigint) =>
      client.readContract({ ...read, functionName: 'getRoundData', args: [round] })
    for (const round of [3n, 64n, 66n])
      expect(await roundAt(round)).toEqual([round, round, 10n * round, 10n * round, round])
    for (const round of [0n, 1n, 2n, 67n]) await expect(roundAt(round)).rejects.toThrow('No data')
  })

  it('let a trader run a batch past a step that reverts, and report which and why', async () => {
    const { hands, pool, pair } = await market()
    const outcomes = await trader.batch(
      client,
      hands,
      [
        trader.mintV3(pool.address, -60, 60, 10n ** 18n),
        trader.swapV3(pool.address, true, 10n ** 6n),
        trader.swapV3(pool.address, true, 10n ** 6n, Q96 * 2n),
        trader.swapV3(pool.address, false, -(10n ** 6n)),
        trader.burnV3(pool.address, -60, 60, 10n ** 18n + 1n),
        trader.burnV3(pool.address, -60, 60, 10n ** 18n),
        trader.addV2(pair.address, 10n ** 18n, 10n ** 18n),
        trader.swapV2(pair.address, { in0: 1000n, out1: 997n }),
        trader.swapExactInV2(pair.address, true, 1000n, { numerator: 997n, denominator: 1000n }),
        trader.donateV2(pair.address, 1n, 0n),
        trader.removeV2(pair.address, 10n ** 17n),
      ],
      GAS / 2n,
    )
    expect(outcomes.map(outcome => (outcome.ok ? 'done' : outcome.reason))).toEqual([
      'done',
      'done',
      'SPL',
      'done',
      'LS',
      'done',
      'done',
      'UniswapV2: K',
      'done',
      'done',
      'done',
    ])
    const names = outcomes.map(outcome => {
      const logs = outcome.ok ? [...outcome.logs] : []
      const own = [...parseEventLogs({ abi: v3PoolAbi, logs }), ...parseEventLogs({ abi: v2PairAbi, logs })]
      return own.map(log => log.eventName).join(' ')
    })
    expect(names).toEqual([
      'Mint',
      'Swap',
      '',
      'Swap',
      '',
      'Burn Collect',
      'Sync Mint',
      '',
      'Sync Swap',
      'Sync',
      'Sync Burn',
    ])
  })

  it('let a trader make what-if calls that leave no trace and do not see one another', async () => {
    const { hands, pool } = await market()
    await trader.batch(client, hands, [trader.mintV3(pool.address, -60, 60, 10n ** 18n)], GAS / 2n)
    const sale = trader.swapV3(pool.address, true, 10n ** 12n)
    const wrong = trader.swapV3(pool.address, true, 0n)
    const [first, middle, last] = await trader.probe(client, hands, [sale, wrong, sale], GAS / 2n)
    expect(first).toEqual(last)
    expect(first).toMatchObject({ ok: true })
    expect(middle).toEqual({ ok: false, reason: 'AS' })
    const slot = await client.readContract({ address: pool.address, abi: v3PoolAbi, functionName: 'slot0' })
    expect(slot.slice(0, 2)).toEqual([Q96, 0])
  })
})

const token = (symbol: string) => deployToken(client, { symbol, decimals: 18 })

async function market() {
  const hands = await deployTrader(client)
  const tokens = [await token('A'), await token('B')] as const
  await trader.fund(client, hands, tokens)
  const v3 = await deployV3Factory(client, 'anywhere')
  const v2 = await deployV2Factory(client, 'anywhere')
  const pool = await createV3Pool(client, v3, tokens, 3000)
  await initialiseV3Pool(client, pool, Q96)
  return { hands, pool, pair: await createV2Pair(client, v2, tokens) }
}
