/** Avalanche C-Chain. Its test network has the same genesis. */
import { asset, joeV1, stable, uniswapV2, uniswapV3, uniswapV4, unpriced } from './protocols.ts'

const WAVAX = '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7'

export const AVALANCHE = {
  name: 'Avalanche C-Chain',
  genesis_hash: '0x31ced5b9beb7f8782b014660da0cb18cc409f121f408186886e1ca3e8eeca96b',
  block_time_ms: 1_035,
  finality: { tag: 'finalized' },
  wrapped_native: WAVAX,
  deployments: [
    uniswapV3('0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD', 27_832_972),
    uniswapV2('0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C', 37_767_795),
    joeV1('0x9Ad6C38BE94206cA50bb0d90783181662f0Cfa10', 2_486_392),
    uniswapV4('0x06380C0e0912312B5150364B9DC4542BA0DbBc85', 56_195_376),
  ],
  unpriced_factories: [unpriced('joe-v2-1', 'liquidity_book', '0x8e42f2F4101563bF679975178e880FD87d3eFd4e')],
  stables: [
    // USDC
    stable(
      '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E',
      '0xF096872672F44d6EBA71458D74fe67F9a77a23B9',
      86_400,
    ),
    // USDT
    stable(
      '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7',
      '0xEBE676ee90Fe1112671f19b6B7459bC678B67e8a',
      86_400,
    ),
  ],
  routing_assets: [
    asset(WAVAX, '0x0A77230d17318075983913bC2145DB16C7366156', 120),
    '0xA7D7079b0FEaD91F3e65f86E8915Cb59c1a4C664', // USDC.e
    '0x49D5c2BdFfac6CE2BFdB6640F4F80f226bc10bAB', // WETH.e
    '0x152b9d0FdC40C096757F570A51E494bd4b943E50', // BTC.b
  ],
  pools: ['0xfAe3f424a0a47706811521E3ee268f00cFb5c45E'],
} as const
