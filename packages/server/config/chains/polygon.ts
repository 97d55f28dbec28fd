/** Polygon PoS. */
import {
  asset,
  quickswapV2,
  quickswapV3,
  stable,
  sushiV2,
  uniswapV2,
  uniswapV3,
  uniswapV4,
} from './protocols.ts'

const WPOL = '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270'

export const POLYGON = {
  name: 'Polygon PoS',
  genesis_hash: '0xa9c28ce2141b56c474f1dc504bee9b01eb1bd7d1a507580d5519d4437a97de1b',
  block_time_ms: 1_500,
  finality: { tag: 'finalized' },
  wrapped_native: WPOL,
  deployments: [
    uniswapV3('0x1F98431c8aD98523631AE4a59f267346ea31F984', 22_757_547),
    uniswapV2('0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C', 49_948_178),
    quickswapV2('0x5757371414417b8C6CAad45bAeF941aBc7d3Ab32', null),
    quickswapV3(),
    uniswapV4('0x67366782805870060151383F4BbFF9daB53e5cD6', 66_980_384),
    sushiV2('0xc35DADB65012eC5796536bD9864eD8773aBc74C4', 11_333_218),
  ],
  stables: [
    // USDC
    stable(
      '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
      '0xfE4A8cc5b5B2366C1B58Bea3858e81843581b2F7',
      86_400,
    ),
    // USDT
    stable(
      '0xc2132D05D31c914a87C6611C10748AEb04B58e8F',
      '0x0A6513e40db6EB1b165753AD52E80663aeA50545',
      86_400,
    ),
    // DAI. Sources disagree on the heartbeat: 3600 s is reported too.
    stable(
      '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063',
      '0x4746DeC9e833A82EC7C2C1356372CcF2cfcD2F3D',
      86_400,
    ),
  ],
  routing_assets: [
    asset(WPOL, '0xAB594600376Ec9fD91F8e885dADF0CE036862dE0', 27),
    '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174', // USDC.e
    '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619', // WETH
    '0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6', // WBTC
  ],
  pools: ['0xB6e57ed85c4c9dbfEF2a68711e9d6f36c56e0FcB'],
} as const
