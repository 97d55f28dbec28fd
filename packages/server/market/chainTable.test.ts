/**
 * The built-in table against addresses that exist: a factory, an init code hash or a token that is wrong by one digit
 * derives another pool.
 */
import { v4ManagerAddress } from '@assay/world'
import { expect, test } from 'vitest'
import { CHAIN_TABLE } from '../config/chainTable.ts'
import type { ChainConfig } from '../config/config.ts'
import type { Address } from '../ops/hex.ts'
import { environmentConfig } from '../config/environmentConfig.ts'
import { marketOf } from './families.ts'

const IDS = [1, 42_161, 56, 137, 43_114, 8453, 10]
const config = environmentConfig(
  Object.fromEntries(IDS.map(id => [`ASSAY_RPC_${id}`, 'http://127.0.0.1:1'])),
  { folder: '.' },
)
const chainOf = (id: number) => config.chains.find(({ chainId }) => chainId === id) as ChainConfig

/** Known pools: chain, deployment, the pair in order, fee, address. */
const KNOWN: readonly (readonly [number, string, string, string, number, string])[] = [
  [
    1,
    'uniswap-v3',
    '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
    500,
    '0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640',
  ],
  [
    1,
    'uniswap-v3',
    '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
    3000,
    '0x8ad599c3A0ff1De082011EFDDc58f1908eb6e6D8',
  ],
  [
    1,
    'uniswap-v2',
    '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
    0,
    '0xB4e16d0168e52d35CaCD2c6185b44281Ec28C9Dc',
  ],
  [
    42_161,
    'uniswap-v3',
    '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
    '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    500,
    '0xC6962004f452bE9203591991D15f6b388e09E8D0',
  ],
  [
    42_161,
    'uniswap-v3',
    '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
    '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8',
    500,
    '0xC31E54c7a869B9FcBEcc14363CF510d1c41fa443',
  ],
  [
    42_161,
    'uniswap-v2',
    '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
    '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    0,
    '0xF64Dfe17C8b87F012FCf50FbDA1D62bfA148366a',
  ],
  [
    56,
    'pancake-v2',
    '0x55d398326f99059fF775485246999027B3197955',
    '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c',
    0,
    '0x16b9a82891338f9bA80E2D6970FddA79D1eb0daE',
  ],
  [
    56,
    'pancake-v2',
    '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
    '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c',
    0,
    '0xd99c7F6C65857AC913a8f880A4cb84032AB2FC5b',
  ],
  [
    56,
    'uniswap-v2',
    '0x55d398326f99059fF775485246999027B3197955',
    '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c',
    0,
    '0x8a1Ed8e124fdFBD534bF48baF732E26db9Cc0Cf4',
  ],
  [
    137,
    'uniswap-v3',
    '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270',
    '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    500,
    '0xB6e57ed85c4c9dbfEF2a68711e9d6f36c56e0FcB',
  ],
  [
    137,
    'uniswap-v2',
    '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270',
    '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    0,
    '0x1f0c5400A3C7E357CC7c9A3D2f7Fe6DDF629D868',
  ],
  [
    137,
    'quickswap-v2',
    '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270',
    '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174',
    0,
    '0x6e7a5FAFcec6BB1e78bAE2A1F0B612012BF14827',
  ],
  [
    43_114,
    'uniswap-v3',
    '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7',
    '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E',
    500,
    '0xfAe3f424a0a47706811521E3ee268f00cFb5c45E',
  ],
  [
    43_114,
    'uniswap-v2',
    '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7',
    '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E',
    0,
    '0x6239aE4D661379b71A90c4c79f0a95297342e391',
  ],
  [
    1,
    'pancake-v3',
    '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
    500,
    '0x1ac1A8FEaAEa1900C4166dEeed0C11cC10669D36',
  ],
  [
    42_161,
    'pancake-v3',
    '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
    '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    500,
    '0xd9e2a1a61B6E61b275cEc326465d417e52C1b95c',
  ],
  [
    56,
    'pancake-v3',
    '0x55d398326f99059fF775485246999027B3197955',
    '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c',
    500,
    '0x36696169C63e42cd08ce11f5deeBbCeBae652050',
  ],
  [
    56,
    'pancake-v3',
    '0x55d398326f99059fF775485246999027B3197955',
    '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c',
    100,
    '0x172fcD41E0913e95784454622d1c3724f546f849',
  ],
  [
    137,
    'quickswap-v3',
    '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270',
    '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174',
    0,
    '0xAE81FAc689A1b4b1e06e7ef4a2ab4CD8aC0A087D',
  ],
  [
    137,
    'quickswap-v3',
    '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174',
    '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619',
    0,
    '0x55CAaBB0d2b704FD0eF8192A7E35D8837e678207',
  ],
  [
    1,
    'sushi-v2',
    '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
    0,
    '0x397FF1542f962076d0BFE58eA045FfA2d347ACa0',
  ],
  [
    42_161,
    'sushi-v2',
    '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
    '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8',
    0,
    '0x905dfCD5649217c42684f23958568e533C711Aa3',
  ],
  [
    56,
    'uniswap-v3',
    '0x55d398326f99059fF775485246999027B3197955',
    '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c',
    500,
    '0x6fe9E9de56356F7eDBfcBB29FAB7cd69471a4869',
  ],
  [
    137,
    'sushi-v2',
    '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174',
    '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619',
    0,
    '0x34965ba0ac2451A34a0471F04CCa3F990b8dea27',
  ],
  [
    43_114,
    'joe-v1',
    '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7',
    '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E',
    0,
    '0xf4003F4efBE8691B60249E6afbD307aBE7758adb',
  ],
  [
    8453,
    'uniswap-v3',
    '0x4200000000000000000000000000000000000006',
    '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    500,
    '0xd0b53D9277642d899DF5C87A3966A349A798F224',
  ],
  [
    8453,
    'uniswap-v3',
    '0x4200000000000000000000000000000000000006',
    '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    3000,
    '0x6c561B446416E1A00E8E93E221854d6eA4171372',
  ],
  [
    8453,
    'uniswap-v2',
    '0x4200000000000000000000000000000000000006',
    '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    0,
    '0x88A43bbDF9D098eEC7bCEda4e2494615dfD9bB9C',
  ],
  [
    8453,
    'pancake-v3',
    '0x4200000000000000000000000000000000000006',
    '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    100,
    '0x72AB388E2E2F6FaceF59E3C3FA2C4E29011c2D38',
  ],
  [
    8453,
    'pancake-v2',
    '0x4200000000000000000000000000000000000006',
    '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    0,
    '0x79474223AEdD0339780baCcE75aBDa0BE84dcBF9',
  ],
  [
    8453,
    'sushi-v2',
    '0x4200000000000000000000000000000000000006',
    '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    0,
    '0x2F8818D1B0f3e3E295440c1C0cDDf40aAA21fA87',
  ],
  [
    10,
    'uniswap-v3',
    '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
    '0x4200000000000000000000000000000000000006',
    500,
    '0x1fb3cf6e48F1E7B10213E7b6d87D4c073C7Fdb7b',
  ],
  [
    10,
    'uniswap-v3',
    '0x4200000000000000000000000000000000000006',
    '0x7F5c764cBc14f9669B88837ca1490cCa17c31607',
    500,
    '0x85149247691df622eaF1a8Bd0CaFd40BC45154a9',
  ],
  [
    10,
    'uniswap-v2',
    '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
    '0x4200000000000000000000000000000000000006',
    0,
    '0x4C43646304492A925E335f2b6d840C1489f17815',
  ],
  [
    10,
    'sushi-v2',
    '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
    '0x4200000000000000000000000000000000000006',
    0,
    '0x010370653d85cFC3d9756fDE6A6Fb8A86Ff9EDE3',
  ],
]

test.each(KNOWN)('chain %i, %s: %s / %s at fee %i is %s', (id, deploymentId, a, b, feePpm, address) => {
  const chain = chainOf(id)
  const deployment = chain.deployments.find(each => each.deploymentId === deploymentId)
  if (deployment === undefined) throw new Error(`the table has no ${deploymentId} on ${id}`)
  const anchors = [...chain.stables.map(({ tokenAddress }) => tokenAddress), ...chain.routingAssets]
  // Both sides come from the table: a wrong token there would not be found here.
  for (const token of [a, b]) expect(anchors).toContain(token.toLowerCase())
  const pair = [a.toLowerCase() as Address, b.toLowerCase() as Address] as const
  expect(marketOf(deployment.family).derived(deployment, pair, BigInt(feePpm))).toBe(address.toLowerCase())
})

test('R-config-2: every deployment of the table is proved by a known pool, and every chain has two', () => {
  // The one contract that holds all pools is proved by its own address.
  for (const { chainId, deployments } of config.chains)
    for (const { deploymentId, family, factoryAddress } of deployments)
      expect(
        family === 'amm_v4'
          ? factoryAddress === v4ManagerAddress(chainId).toLowerCase()
          : KNOWN.some(([id, known]) => id === chainId && known === deploymentId),
        `${chainId} ${deploymentId}`,
      ).toBe(true)
})

test('a chain has v4 and at least three deployments of pairs or of tiered pools, so that one may be wrong', () => {
  for (const { chainId, deployments } of config.chains) {
    const others = deployments.filter(({ family }) => family !== 'amm_v4')
    expect(others.length, `${chainId}`).toBeGreaterThanOrEqual(3)
    expect(deployments.length - others.length, `${chainId}`).toBe(1)
  }
})

test('receipts of the OP stack are proved by its own rules, and all others by Ethereum’s', () => {
  for (const { chainId, proof } of config.chains)
    expect(proof, `${chainId}`).toEqual({
      header: 'standard',
      receipts: chainId === 8453 || chainId === 10 ? 'op_stack' : 'standard',
    })
})

test('the table is the specification’s: ids, block times, families, deployment blocks and known pools', () => {
  expect(Object.keys(CHAIN_TABLE).map(Number)).toEqual(expect.arrayContaining(IDS))
  const first = (id: number) => {
    const { blockTimeMs, deployments } = chainOf(id)
    return [blockTimeMs, deployments[0]?.family, deployments[0]?.deploymentBlock]
  }
  expect(IDS.map(first)).toEqual([
    [12_048, 'amm_v3', 12_369_621],
    [250, 'amm_v3', 165],
    [450, 'amm_v2', 6_809_737],
    [1500, 'amm_v3', 22_757_547],
    [1035, 'amm_v3', 27_832_972],
    [2000, 'amm_v3', 1_371_680],
    [2000, 'amm_v3', 0],
  ])
  expect(IDS.map(id => chainOf(id).pools.length)).toEqual([1, 1, 2, 1, 1, 1, 1])
})

test('the wrapped native token of a chain is its first routing asset, and no token is both stable and routing', () => {
  for (const chain of config.chains) {
    expect(chain.routingAssets[0]).toBe(chain.wrappedNative)
    const stables = chain.stables.map(({ tokenAddress }) => tokenAddress)
    expect(chain.routingAssets.filter(asset => stables.includes(asset))).toEqual([])
  }
})

test('R-ticks-8: the manager of Uniswap v4 on each chain is at the address its published code gives', () => {
  expect(v4ManagerAddress()).toBe('0x000000000004444c5dc75cB358380D2e3dE08A90')
  expect(v4ManagerAddress(8453)).toBe('0x498581fF718922c3f8e6A244956aF099B2652b2b')
  for (const { chainId, deployments } of config.chains)
    expect(deployments.find(({ family }) => family === 'amm_v4')?.factoryAddress, `${chainId}`).toBe(
      v4ManagerAddress(chainId).toLowerCase(),
    )
})
