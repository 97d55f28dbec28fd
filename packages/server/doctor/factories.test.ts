/** Factories that the built-in table has by their project's word alone, on a real node: right ones, and wrong ones at their address. */
import {
  type Client,
  connect,
  createAlgebraPool,
  createPancakePool,
  deployAlgebraFactory,
  deployPancakeFactory,
  deployToken,
} from '@assay/world'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalChain, startLocalChain } from '../feed/testing/localChain.ts'
import { startRpcProxy, without } from '../feed/testing/rpcProxy.ts'
import { pancakeV3, quickswapV3 } from '../config/chains/protocols.ts'
import type { ChainConfig, Config, DeploymentConfig } from '../config/config.ts'
import { bareConfig } from '../config/testing/bareConfig.ts'
import type { Hex } from '../ops/hex.ts'
import { Secret } from '../ops/secret.ts'
import { diagnose } from './doctor.ts'
import { preflight } from './preflight.ts'

let chain: LocalChain
let client: Client
let tokens: readonly [Hex, Hex]
let snapshot: Hex

beforeAll(async () => {
  chain = await startLocalChain({ chainId: 31_337, timestamp: Math.floor(Date.now() / 1000) - 60 })
  client = connect(chain.anvil.url)
  const made = [
    await deployToken(client, { symbol: 'WETH', decimals: 18 }),
    await deployToken(client, { symbol: 'USDC', decimals: 6 }),
  ]
  tokens = made.map(each => each.toLowerCase()) as unknown as readonly [Hex, Hex]
  snapshot = await client.snapshot()
})
afterAll(() => chain.close())

/** Every test begins without a factory. */
async function fresh(): Promise<void> {
  await client.revert({ id: snapshot })
  snapshot = await client.snapshot()
}

/** As the built-in table has it, in the words of the configuration as it is loaded. */
const entryOf = (entry: Readonly<Record<string, unknown>>) =>
  ({
    deploymentId: entry['deployment_id'],
    family: entry['family'],
    factoryAddress: (entry['factory_address'] as Hex).toLowerCase() as Hex,
    deployerAddress: (entry['deployer_address'] as Hex).toLowerCase() as Hex,
    deploymentBlock: null,
    initCodeHash: entry['init_code_hash'],
    feeTiers: entry['fee_tiers'],
  }) as unknown as Extract<DeploymentConfig, { readonly deployerAddress: Hex }>

const PANCAKE = entryOf(pancakeV3())
const QUICKSWAP = entryOf(quickswapV3())
const KINDS = [
  {
    entry: PANCAKE,
    deployFactory: deployPancakeFactory,
    makePool: (at: Awaited<ReturnType<typeof deployPancakeFactory>>) =>
      createPancakePool(client, at, tokens, 2500),
  },
  {
    entry: QUICKSWAP,
    deployFactory: deployAlgebraFactory,
    makePool: (at: Awaited<ReturnType<typeof deployAlgebraFactory>>) => createAlgebraPool(client, at, tokens),
  },
] as const

const sitesOf = ({ factoryAddress, deployerAddress }: typeof PANCAKE) => ({
  factory: factoryAddress,
  deployer: deployerAddress,
})

const configOf = (entry: DeploymentConfig, more: Partial<ChainConfig> = {}): Config => {
  const only = chain.config({
    deployments: [entry],
    wrappedNative: tokens[0],
    routingAssets: [tokens[0]],
    stables: [{ tokenAddress: tokens[1], usdFeed: null }],
    ...more,
  })
  return bareConfig({ chains: [only] })
}

const faultsOf = async (config: Config) => (await diagnose(config, { scope: 'identity' })).chains[0]?.faults

const sentence = ({ factoryAddress }: typeof PANCAKE, fault: string) =>
  `chains[0].deployments[0].factory_address: the factory at ${factoryAddress} ${fault}; the built-in entry of this factory is based only on its project’s documentation; correct the entry, or remove it`

test.each(KINDS)(
  'the right factory of $entry.deploymentId starts the service',
  async ({ entry, deployFactory, makePool }) => {
    await fresh()
    await makePool(await deployFactory(client, sitesOf(entry)))
    expect(await faultsOf(configOf(entry))).toEqual([])
    await preflight(configOf(entry))
  },
)

test.each(KINDS)(
  'a factory of $entry.deploymentId whose pools another contract creates is refused with both addresses',
  async ({ entry, deployFactory, makePool }) => {
    await fresh()
    const other: Hex = `0x${'5e'.repeat(20)}`
    await makePool(await deployFactory(client, { ...sitesOf(entry), deployer: other }))
    const fault = sentence(
      entry,
      `names ${other} as the deployer of its pools, expected ${entry.deployerAddress}`,
    )
    expect(await faultsOf(configOf(entry))).toEqual([fault])
    await expect(preflight(configOf(entry))).rejects.toThrow(fault)
  },
)

const NO_POOL = 'has no pool for any of the 1 pairs of the chain’s anchors at the derived address'

test.each(KINDS)(
  'a factory of $entry.deploymentId without a pool of the anchors is refused',
  async ({ entry, deployFactory }) => {
    await fresh()
    await deployFactory(client, sitesOf(entry))
    expect(await faultsOf(configOf(entry))).toEqual([sentence(entry, NO_POOL)])
  },
)

test.each(KINDS)(
  'a factory of $entry.deploymentId that names a pool at an address that does not follow is refused, and so is one without code there',
  async ({ entry, deployFactory, makePool }) => {
    await fresh()
    const pool = await makePool(await deployFactory(client, sitesOf(entry)))
    const right = await client.getCode({ address: entry.factoryAddress })
    // Answers every question with the deployer: push20 it; push1 0; mstore; push1 32; push1 0; return.
    const liar: Hex = `0x73${entry.deployerAddress.slice(2)}60005260206000f3`
    await client.setCode({ address: entry.factoryAddress, bytecode: liar })
    expect(await faultsOf(configOf(entry))).toEqual([sentence(entry, NO_POOL)])
    await client.setCode({ address: entry.factoryAddress, bytecode: right as Hex })
    expect(await faultsOf(configOf(entry))).toEqual([])
    await client.setCode({ address: pool, bytecode: '0x' })
    expect(await faultsOf(configOf(entry))).toEqual([sentence(entry, NO_POOL)])
  },
)

test('the same factory at another address is the operator’s own entry: it may be without pools yet', async () => {
  await fresh()
  const { factory, deployer } = await deployPancakeFactory(client)
  const own = { ...PANCAKE, factoryAddress: factory.toLowerCase() as Hex }
  expect(await faultsOf(configOf({ ...own, deployerAddress: deployer.toLowerCase() as Hex }))).toEqual([])
  expect(await faultsOf(configOf(own))).toEqual([
    `chains[0].deployments[0].factory_address: the factory at ${own.factoryAddress} names ${deployer.toLowerCase()} as the deployer of its pools, expected ${PANCAKE.deployerAddress}; correct the entry, or remove it`,
  ])
})

test('a node that answers no calls is no reason to refuse a factory', async () => {
  await fresh()
  await deployPancakeFactory(client, sitesOf(PANCAKE))
  const proxy = await startRpcProxy(chain.anvil.url, without('eth_call'))
  try {
    const endpoints = [{ name: 'node', url: new Secret(proxy.url) }]
    expect(await faultsOf(configOf(PANCAKE, { endpoints }))).toEqual([])
  } finally {
    await proxy.close()
  }
})

test('a factory that only names a family, without code, is a warning: nothing is priced by it', async () => {
  await fresh()
  const nowhere: Hex = `0x${'77'.repeat(20)}`
  const { chains, warnings } = await diagnose(
    configOf(PANCAKE, {
      deployments: [],
      unpricedFactories: [{ deploymentId: 'curve', family: 'curve', factoryAddress: nowhere }],
    }),
    { scope: 'identity' },
  )
  expect(chains[0]?.faults).toEqual([])
  expect(warnings).toContain(
    `chains[0].unpriced_factories[0].factory_address: there is no code at ${nowhere} on chain 31337; check the address, or remove the entry`,
  )
})
