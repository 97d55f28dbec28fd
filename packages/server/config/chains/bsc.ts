/** BNB Smart Chain. Its stables have 18 decimals. */
import {
  asset,
  pancakeV2OfBsc,
  pancakeV3,
  stable,
  uniswapV2,
  uniswapV3,
  uniswapV4,
  unpriced,
} from './protocols.ts'

const WBNB = '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c'

export const BSC = {
  name: 'BNB Smart Chain',
  genesis_hash: '0x0d21840abff46b96c84b2ac9e10e4f5cdaeb5693cb665db62a2f3b02d2d57b5b',
  block_time_ms: 450,
  finality: { tag: 'finalized' },
  wrapped_native: WBNB,
  deployments: [
    pancakeV2OfBsc('0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73', 6_809_737),
    uniswapV2('0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6', 33_496_018),
    pancakeV3(),
    uniswapV3('0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7', 26_324_014),
    uniswapV4('0x28e2Ea090877bF75740558f6BFB36A5ffeE9e9dF', 45_970_610),
  ],
  unpriced_factories: [unpriced('thena-v1', 'solidly', '0xAFD89d21BdB66d00817d4153E055830B1c2B3970')],
  stables: [
    // USDT. No source gives this heartbeat; 900 s is that of the other stables on this chain.
    stable('0x55d398326f99059fF775485246999027B3197955', '0xB97Ad0E74fa7d920791E90258A6E2085088b4320', 900),
    // USDC
    stable('0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', '0x51597f405303C4377E36123cBc172b13269EA163', 900),
  ],
  routing_assets: [
    asset(WBNB, '0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE', 27),
    '0x2170Ed0880ac9A755fd29B2688956BD959F933F8', // ETH
    '0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c', // BTCB
  ],
  pools: ['0x16b9a82891338f9bA80E2D6970FddA79D1eb0daE', '0xd99c7F6C65857AC913a8f880A4cb84032AB2FC5b'],
} as const
