/** OP Mainnet, of the OP stack. Before Bedrock (block 105,235,063) its blocks were plain. */
import { asset, stable, sushiV2, uniswapV2, uniswapV3, uniswapV4, unpriced } from './protocols.ts'

const WETH = '0x4200000000000000000000000000000000000006'

export const OPTIMISM = {
  name: 'OP Mainnet',
  genesis_hash: '0x7ca38a1916c42007829c55e69d3e9a73265554b586a499015373241b8a3fa48b',
  block_time_ms: 2000,
  finality: { tag: 'finalized' },
  proof: { receipts: 'op_stack' },
  wrapped_native: WETH,
  deployments: [
    // Part of the chain's initial state.
    uniswapV3('0x1F98431c8aD98523631AE4a59f267346ea31F984', 0),
    uniswapV2('0x0c3c1c532F1e39EdF36BE9Fe0bE1410313E074Bf', 112_197_986),
    uniswapV4('0x9a13F98Cb987694C9F086b1F5eB990EeA8264Ec3', 130_947_675),
    sushiV2('0xFbc12984689e5f15626Bad03Ad60160Fe98B303C', 110_882_086),
  ],
  unpriced_factories: [
    unpriced('velodrome-slipstream', 'slipstream', '0xCc0bDDB707055e04e497aB22a59c2aF4391cd12F'),
    unpriced('velodrome', 'solidly', '0xF1046053aa5682b4F9a81b5481394DA16BE5FF5a'),
  ],
  stables: [
    // USDC
    stable(
      '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
      '0x16a9FA2FDa030272Ce99B29CF780dFA30361E0f3',
      86_400,
    ),
    // USDT
    stable(
      '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58',
      '0xECef79E109e997bCA29c1c0897ec9d7b03647F5E',
      86_400,
    ),
    // DAI
    stable(
      '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1',
      '0x8dBa75e83DA73cc766A7e5a0ee71F656BAb470d6',
      86_400,
    ),
  ],
  sequencer_uptime_feed: '0x371EAD81c9102C9BF4874A9075FFFf170F2Ee389',
  routing_assets: [
    asset(WETH, '0x13e3Ee699D1909E989722E753853AE30b17e08c5', 1200),
    '0x7F5c764cBc14f9669B88837ca1490cCa17c31607', // USDC.e
    '0x68f180fcCe6836688e9084f035309E29Bf0A2095', // WBTC
  ],
  pools: ['0x1fb3cf6e48F1E7B10213E7b6d87D4c073C7Fdb7b'],
} as const
