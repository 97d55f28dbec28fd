/** Arbitrum One. Its genesis and its older factories predate Nitro. */
import { asset, pancakeV3, stable, sushiV2, uniswapV2, uniswapV3, uniswapV4, unpriced } from './protocols.ts'

const WETH = '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'

export const ARBITRUM = {
  name: 'Arbitrum One',
  genesis_hash: '0x7ee576b35482195fc49205cec9af72ce14f003b9ae69f6ba0faef4514be8b442',
  block_time_ms: 250,
  finality: { tag: 'finalized' },
  wrapped_native: WETH,
  deployments: [
    uniswapV3('0x1F98431c8aD98523631AE4a59f267346ea31F984', 165),
    uniswapV2('0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9', 150_442_611),
    uniswapV4('0x360E68faCcca8cA495c1B759Fd9EEe466db9FB32', 297_842_872),
    pancakeV3(),
    sushiV2('0xc35DADB65012eC5796536bD9864eD8773aBc74C4', null),
  ],
  unpriced_factories: [
    unpriced('camelot-v3', 'algebra', '0x1a3c9B1d2F0529D97f2afC5136Cc23e58f1FD35B'),
    unpriced('joe-v2-1', 'liquidity_book', '0x8e42f2F4101563bF679975178e880FD87d3eFd4e'),
  ],
  stables: [
    // USDC. Sources disagree on the heartbeat: 255 s is reported too.
    stable(
      '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
      '0x50834F3163758fcC1Df9973b6e91f0F0F0434aD3',
      86_400,
    ),
    // USDT
    stable(
      '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9',
      '0x3f3f5dF88dC9F13eac63DF89EC16ef6e7E25DdE7',
      86_400,
    ),
    // DAI
    stable(
      '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1',
      '0xc5C8E77B397E531B8EC06BFb0048328B30E9eCfB',
      86_400,
    ),
  ],
  sequencer_uptime_feed: '0xFdB631F5EE196F0ed6FAa767959853A9F217697D',
  routing_assets: [
    // Older sources report a heartbeat of 86400 s.
    asset(WETH, '0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612', 1755),
    '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8', // USDC.e
    '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f', // WBTC
  ],
  pools: ['0xC6962004f452bE9203591991D15f6b388e09E8D0'],
} as const
