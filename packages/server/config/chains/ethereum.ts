/** Ethereum. */
import { asset, pancakeV3, stable, sushiV2, uniswapV2, uniswapV3, uniswapV4, unpriced } from './protocols.ts'

const WETH = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'

export const ETHEREUM = {
  name: 'Ethereum',
  genesis_hash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  block_time_ms: 12_048,
  finality: { tag: 'finalized' },
  wrapped_native: WETH,
  deployments: [
    uniswapV3('0x1F98431c8aD98523631AE4a59f267346ea31F984', 12_369_621),
    uniswapV2('0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f', 10_000_834),
    uniswapV4('0x000000000004444c5dc75cB358380D2e3dE08A90', 21_688_329),
    pancakeV3(),
    sushiV2('0xC0AEe478e3658e2610c5F7A4A2E1777cE9e4f2Ac', 10_794_229),
  ],
  unpriced_factories: [unpriced('curve-registry', 'curve', '0xF98B45FA17DE75FB1aD0e7aFD971b0ca00e379fC')],
  stables: [
    // USDC. Sources disagree on the heartbeat: 86400 s is reported too.
    stable(
      '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
      '0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6',
      82_800,
    ),
    // USDT
    stable(
      '0xdAC17F958D2ee523a2206206994597C13D831ec7',
      '0x3E7d1eAB13ad0104d2750B8863b489D65364e32D',
      86_400,
    ),
    // DAI
    stable('0x6B175474E89094C44Da98b954EedeAC495271d0F', '0xAed0c38402a5d19df6E4c03F4E2DceD6e29c1ee9', 3600),
  ],
  routing_assets: [
    asset(WETH, '0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419', 3600),
    // WBTC
    asset('0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599', '0xF4030086522a5bEEa4988F8cA5B36dbC97BeE88c', 3600),
  ],
  pools: ['0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640'],
} as const
