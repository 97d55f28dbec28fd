/**
 * The six chains of the local world. Factories, stables, routing assets, their price feeds and Multicall3 are at
 * their real addresses; the code of every factory and pool is the published one.
 *
 * Both v2 deployments of chain 56 run Uniswap v2's bytecode, with its fee: no package publishes another, and none is
 * invented. Blocks are at least a whole second apart, because block timestamps have no smaller unit.
 */
import { anchorPools, chain, factory, routing, stable } from './chainPlan.ts'
import type { ChainPlan } from './plan.ts'

const V3 = '0x1F98431c8aD98523631AE4a59f267346ea31F984'

const ETHEREUM = chain({
  chainId: 1,
  name: 'Ethereum (local world)',
  blockTimeS: 12,
  deployments: [
    factory('uniswap-v3', 'amm_v3', V3),
    factory('uniswap-v2', 'amm_v2', '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f'),
  ],
  anchors: [
    stable(
      'USDC',
      6,
      '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
      '0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6',
    ),
    stable(
      'USDT',
      6,
      '0xdAC17F958D2ee523a2206206994597C13D831ec7',
      '0x3E7d1eAB13ad0104d2750B8863b489D65364e32D',
    ),
    routing('WETH', 18, 2480, '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'),
    routing('WBTC', 8, 67_200, '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599'),
  ],
  anchorPools: anchorPools(['USDC', 'USDT'], ['WETH', 'WBTC'], 'uniswap-v3', ['uniswap-v2', ''], 9_000_000),
  first: 1,
  tail: [
    ['LARK', 18, 1.37, 'SPIKY', 900_000],
    ['MOTH', 18, 0.000_021_4, 'SPLIT', 700_000],
    ['QUILL', 9, 38.2, 'LONE_V3', 250_000],
    ['BRINE', 6, 0.084, 'LONE_V2', 60_000],
    ['OCHRE', 18, 412, 'LONE_V3', 1_100_000],
    ['FJORD', 0, 6.5, 'LONE_V2', 40_000],
    ['EMBER', 18, 0.0031, 'LONE_V2', 900],
    ['WREN', 18, 2.15, 'DEEP', 1_600_000],
    ['SABLE', 18, 0.19, 'PROXIED', 480_000],
    ['DUNE', 8, 17.8, 'SPLIT', 220_000],
    ['TALON', 18, 0.000_74, 'DEEP', 350_000],
    ['HAZEL', 18, 5.4, 'SPIKY', 1_200_000],
    ['CINDER', 6, 0.31, 'LONE_V3', 90_000],
    ['ROOK', 18, 121, 'SPLIT', 2_400_000],
    ['MARROW', 18, 0.0092, 'LONE_V2', 15_000],
    ['THISTLE', 12, 0.66, 'DEEP', 640_000],
  ],
})

const ARBITRUM = chain({
  chainId: 42_161,
  name: 'Arbitrum One (local world)',
  blockTimeS: 1,
  sequencerFeed: '0xFdB631F5EE196F0ed6FAa767959853A9F217697D',
  deployments: [
    factory('uniswap-v3', 'amm_v3', V3),
    factory('uniswap-v2', 'amm_v2', '0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9'),
  ],
  anchors: [
    stable(
      'USDC',
      6,
      '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
      '0x50834F3163758fcC1Df9973b6e91f0F0F0434aD3',
    ),
    stable(
      'USDT',
      6,
      '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9',
      '0x3f3f5dF88dC9F13eac63DF89EC16ef6e7E25DdE7',
    ),
    routing('WETH', 18, 2480, '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'),
    routing('WBTC', 8, 67_200, '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f'),
  ],
  anchorPools: anchorPools(['USDC', 'USDT'], ['WETH', 'WBTC'], 'uniswap-v3', ['uniswap-v2', ''], 6_000_000),
  first: 0x101,
  tail: [
    ['KESTREL', 18, 0.94, 'DEEP', 1_300_000],
    ['BASALT', 18, 0.042, 'SPIKY', 520_000],
    ['LICHEN', 6, 3.3, 'SPLIT', 310_000],
    ['PYRE', 18, 0.000_006, 'LONE_V2', 75_000],
    ['SORREL', 18, 28.4, 'LONE_V3', 430_000],
    ['AUGUR', 18, 0.58, 'PROXIED', 260_000],
    ['VESPER', 9, 0.011, 'DEEP', 190_000],
    ['HERON', 18, 64, 'SPLIT', 880_000],
    ['LOAM', 18, 0.23, 'LONE_V3', 52_000],
    ['SCREE', 4, 1.9, 'LONE_V2', 2100],
    ['TARN', 18, 7.7, 'DEEP', 740_000],
    ['WISP', 18, 0.0004, 'LONE_V2', 33_000],
  ],
})

const BNB_CHAIN = chain({
  chainId: 56,
  name: 'BNB Smart Chain (local world)',
  blockTimeS: 1,
  deployments: [
    factory('v2-one', 'amm_v2', '0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73'),
    factory('v2-two', 'amm_v2', '0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6'),
  ],
  anchors: [
    stable(
      'USDT',
      18,
      '0x55d398326f99059fF775485246999027B3197955',
      '0xB97Ad0E74fa7d920791E90258A6E2085088b4320',
    ),
    stable(
      'USDC',
      18,
      '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
      '0x51597f405303C4377E36123cBc172b13269EA163',
    ),
    routing('WBNB', 18, 612, '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c'),
    routing('ETH', 18, 2480, '0x2170Ed0880ac9A755fd29B2688956BD959F933F8'),
  ],
  anchorPools: anchorPools(['USDT', 'USDC'], ['WBNB', 'ETH'], null, ['v2-one', 'v2-two'], 8_000_000),
  first: 0x15,
  tail: [
    ['TERN', 18, 0.72, 'SPIKY', 1_400_000],
    ['GULL', 8, 13.4, 'SPLIT', 500_000],
    ['SEDGE', 18, 0.0009, 'LONE_V2', 120_000],
    ['PLUME', 18, 3.05, 'LONE_V2', 45_000],
    ['KELP', 4, 0.41, 'LONE_V3', 6000],
    ['SKUA', 18, 0.000_018, 'DEEP', 900_000],
    ['REED', 18, 1.12, 'PROXIED', 340_000],
    ['BRACKEN', 18, 52, 'DEEP', 2_100_000],
    ['SILT', 9, 0.063, 'SPLIT', 95_000],
    ['OSPREY', 18, 8.8, 'SPIKY', 760_000],
    ['DRIFT', 18, 0.0021, 'LONE_V2', 28_000],
    ['PETREL', 6, 0.37, 'SPLIT', 410_000],
    ['SHOAL', 18, 205, 'LONE_V3', 640_000],
    ['FERN', 18, 0.000_33, 'LONE_V2', 9500],
  ],
})

const POLYGON = chain({
  chainId: 137,
  name: 'Polygon PoS (local world)',
  blockTimeS: 2,
  deployments: [
    factory('uniswap-v3', 'amm_v3', V3),
    factory('uniswap-v2', 'amm_v2', '0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C'),
    factory('quickswap-v2', 'amm_v2', '0x5757371414417b8C6CAad45bAeF941aBc7d3Ab32'),
    factory(
      'quickswap-v3',
      'amm_algebra_v1',
      '0x411b0fAcC3489691f28ad58c47006AF5E3Ab3A28',
      '0x2D98E2FA9da15aa6dC9581AB097Ced7af697CB92',
    ),
  ],
  anchors: [
    stable(
      'USDC',
      6,
      '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
      '0xfE4A8cc5b5B2366C1B58Bea3858e81843581b2F7',
    ),
    stable(
      'USDT',
      6,
      '0xc2132D05D31c914a87C6611C10748AEb04B58e8F',
      '0x0A6513e40db6EB1b165753AD52E80663aeA50545',
    ),
    routing('WPOL', 18, 0.44, '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270'),
    routing('WETH', 18, 2480, '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619'),
  ],
  anchorPools: [
    ...anchorPools(['USDC', 'USDT'], ['WPOL', 'WETH'], 'uniswap-v3', ['uniswap-v2', ''], 4_000_000),
    { deployment: 'quickswap-v2', pair: ['USDC', 'WPOL'], usd: 1_500_000 },
    { deployment: 'quickswap-v3', pair: ['USDC', 'WPOL'], usd: 2_000_000 },
  ],
  first: 0x201,
  tail: [
    ['MAGPIE', 18, 0.083, 'DEEP', 420_000],
    ['GORSE', 18, 1.66, 'SPLIT', 150_000],
    ['FLINT', 6, 0.0047, 'LONE_V2', 64_000],
    ['IBIS', 18, 23, 'SPIKY', 610_000],
    ['TALLOW', 18, 0.29, 'PROXIED', 130_000],
    ['CAIRN', 18, 0.000_12, 'LONE_V2', 18_000],
    ['PLOVER', 8, 4.2, 'LONE_V3', 240_000],
    ['SPRUCE', 18, 0.71, 'DEEP', 330_000],
    ['GROVE', 18, 9.1, 'ALGEBRA', 280_000],
  ],
})

const AVALANCHE = chain({
  chainId: 43_114,
  name: 'Avalanche C-Chain (local world)',
  blockTimeS: 1,
  deployments: [
    factory('uniswap-v3', 'amm_v3', '0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD'),
    factory('uniswap-v2', 'amm_v2', '0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C'),
  ],
  anchors: [
    stable(
      'USDC',
      6,
      '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E',
      '0xF096872672F44d6EBA71458D74fe67F9a77a23B9',
    ),
    stable(
      'USDT',
      6,
      '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7',
      '0xEBE676ee90Fe1112671f19b6B7459bC678B67e8a',
    ),
    routing('WAVAX', 18, 31.5, '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7'),
    routing('WETH.e', 18, 2480, '0x49D5c2BdFfac6CE2BFdB6640F4F80f226bc10bAB'),
  ],
  anchorPools: anchorPools(
    ['USDC', 'USDT'],
    ['WAVAX', 'WETH.e'],
    'uniswap-v3',
    ['uniswap-v2', ''],
    3_000_000,
  ),
  first: 0x301,
  tail: [
    ['CONDOR', 18, 0.15, 'DEEP', 560_000],
    ['SCORIA', 18, 2.9, 'SPIKY', 380_000],
    ['TUNDRA', 6, 0.52, 'SPLIT', 210_000],
    ['RIME', 18, 0.0008, 'LONE_V2', 22_000],
    ['GLACIER', 18, 74, 'LONE_V3', 350_000],
    ['SERAC', 18, 0.036, 'PROXIED', 115_000],
    ['FIRN', 9, 6.1, 'DEEP', 270_000],
    ['ICECAP', 18, 0.000_05, 'LONE_V2', 12_000],
    ['MORAINE', 18, 1.04, 'LONE_V3', 68_000],
  ],
})

/** Also has v4 and PancakeSwap v3, and hooks of each class. */
const BASE = chain({
  chainId: 8453,
  name: 'Base (local world)',
  blockTimeS: 2,
  isOpStack: true,
  sequencerFeed: '0xBCF85224fc0756B9Fa45aA7892530B47e10b6433',
  deployments: [
    factory('uniswap-v3', 'amm_v3', '0x33128a8fC17869897dcE68Ed026d694621f6FDfD'),
    factory('uniswap-v2', 'amm_v2', '0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6'),
    factory('uniswap-v4', 'amm_v4', '0x498581fF718922c3f8e6A244956aF099B2652b2b'),
    factory(
      'pancake-v3',
      'amm_v3_pancake',
      '0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865',
      '0x41ff9AA7e16B8B1a8a8dc4f0eFacd93D02d071c9',
    ),
  ],
  anchors: [
    stable(
      'USDC',
      6,
      '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      '0x7e860098F58bBFC8648a4311b374B1D669a2bc6B',
    ),
    stable(
      'USDT',
      6,
      '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2',
      '0xf19d560eB8d2ADf07BD6D13ed03e1D11215721F9',
    ),
    routing('WETH', 18, 2480, '0x4200000000000000000000000000000000000006'),
    routing('cbBTC', 8, 67_200, '0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf'),
  ],
  anchorPools: [
    ...anchorPools(['USDC', 'USDT'], ['WETH', 'cbBTC'], 'uniswap-v3', ['uniswap-v2', ''], 7_000_000),
    { deployment: 'uniswap-v4', pair: ['WETH', 'USDC'], usd: 5_000_000, feePpm: 500, isNative: true },
    { deployment: 'pancake-v3', pair: ['USDC', 'WETH'], usd: 3_000_000, feePpm: 500 },
  ],
  first: 0x401,
  tail: [
    ['CLOVER', 18, 0.62, 'NATIVE_V4', 1_200_000],
    ['ORIOLE', 6, 3.4, 'PANCAKE', 600_000],
    ['GANNET', 18, 0.018, 'LONE_V4', 260_000],
    ['LARCH', 18, 47, 'DEEP', 900_000],
    ['SAMPHIRE', 18, 1.9, 'HOOK_PLAIN', 2_000_000],
    ['NETTLE', 9, 0.27, 'HOOK_FEE', 2_000_000],
    ['BURDOCK', 18, 8.3, 'HOOK_SWAP', 2_000_000],
    ['MALLOW', 18, 0.0016, 'LONE_V2', 31_000],
  ],
})

export const WORLD: readonly ChainPlan[] = [ETHEREUM, ARBITRUM, BNB_CHAIN, POLYGON, AVALANCHE, BASE]
