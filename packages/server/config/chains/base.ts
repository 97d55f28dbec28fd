/** Base, of the OP stack. */
import {
  asset,
  pancakeV2,
  pancakeV3,
  stable,
  sushiV2,
  uniswapV2,
  uniswapV3,
  uniswapV4,
  unpriced,
} from './protocols.ts'

/** At the same address on every chain of the OP stack. */
const WETH = '0x4200000000000000000000000000000000000006'

export const BASE = {
  name: 'Base',
  genesis_hash: '0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd',
  block_time_ms: 2000,
  finality: { tag: 'finalized' },
  proof: { receipts: 'op_stack' },
  wrapped_native: WETH,
  deployments: [
    uniswapV3('0x33128a8fC17869897dcE68Ed026d694621f6FDfD', 1_371_680),
    uniswapV2('0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6', 6_601_915),
    uniswapV4('0x498581fF718922c3f8e6A244956aF099B2652b2b', 25_350_988),
    pancakeV3(),
    pancakeV2('0x02a84c1b3BBD7401a5f7fa98a384EBC70bB5749E', 2_910_387),
    sushiV2('0x71524B4f93c58fcbF659783284E38825f0622859', null),
  ],
  unpriced_factories: [
    unpriced('aerodrome-slipstream', 'slipstream', '0x5e7BB104d84c7CB9B682AaC2F3d509f5F406809A'),
    unpriced('aerodrome', 'solidly', '0x420DD381b31aEf6683db6B902084cB0FFECe40Da'),
  ],
  stables: [
    // USDC
    stable(
      '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      '0x7e860098F58bBFC8648a4311b374B1D669a2bc6B',
      86_400,
    ),
    // USDT
    stable(
      '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2',
      '0xf19d560eB8d2ADf07BD6D13ed03e1D11215721F9',
      86_400,
    ),
  ],
  sequencer_uptime_feed: '0xBCF85224fc0756B9Fa45aA7892530B47e10b6433',
  routing_assets: [
    asset(WETH, '0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70', 1200),
    '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA', // USDbC
    '0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf', // cbBTC
  ],
  pools: ['0xd0b53D9277642d899DF5C87A3966A349A798F224'],
} as const
