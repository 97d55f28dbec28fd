/** Event topics and function selectors of the pool families, of ERC-20 and of price feeds. Tests derive them anew. */
import type { Hex } from '../ops/config.ts'

export const TOPIC = {
  v2PairCreated: '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9',
  v2Sync: '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  v2Mint: '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f',
  v2Burn: '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496',
  v2Swap: '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  v3PoolCreated: '0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118',
  v3Initialize: '0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95',
  v3Mint: '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde',
  v3Burn: '0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c',
  v3Swap: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
  answerUpdated: '0x0559884fd3a460db3073b7fc896cc77986f16e378210ded43186175bf646fc5f',
} as const satisfies Record<string, Hex>

export const SIGNATURE: Readonly<Record<keyof typeof TOPIC, string>> = {
  v2PairCreated: 'PairCreated(address,address,address,uint256)',
  v2Sync: 'Sync(uint112,uint112)',
  v2Mint: 'Mint(address,uint256,uint256)',
  v2Burn: 'Burn(address,uint256,uint256,address)',
  v2Swap: 'Swap(address,uint256,uint256,uint256,uint256,address)',
  v3PoolCreated: 'PoolCreated(address,address,uint24,int24,address)',
  v3Initialize: 'Initialize(uint160,int24)',
  v3Mint: 'Mint(address,address,int24,int24,uint128,uint256,uint256)',
  v3Burn: 'Burn(address,int24,int24,uint128,uint256,uint256)',
  v3Swap: 'Swap(address,address,int256,int256,uint160,uint128,int24)',
  answerUpdated: 'AnswerUpdated(int256,uint256,uint256)',
}

export const SELECTOR = {
  'decimals()': '0x313ce567',
  'symbol()': '0x95d89b41',
  'name()': '0x06fdde03',
  'totalSupply()': '0x18160ddd',
  'token0()': '0x0dfe1681',
  'token1()': '0xd21220a7',
  'fee()': '0xddca3f43',
  'tickSpacing()': '0xd0c93a7c',
  'factory()': '0xc45a0155',
  'slot0()': '0x3850c7bd',
  'liquidity()': '0x1a686502',
  'tickBitmap(int16)': '0x5339c296',
  'ticks(int24)': '0xf30dba93',
  'getReserves()': '0x0902f1ac',
  'getPair(address,address)': '0xe6a43905',
  'getPool(address,address,uint24)': '0x1698ee82',
  'balanceOf(address)': '0x70a08231',
  'poolByPair(address,address)': '0xd9a641e1',
  'getPair(address,address,bool)': '0x6801cc30',
  'getPool(address,address,bool)': '0x79bc57d5',
  'getPool(address,address,int24)': '0x28af8d0b',
  'getAllLBPairs(address,address)': '0x6622e0d7',
  'find_pool_for_coins(address,address)': '0xa87df06c',
  'latestRoundData()': '0xfeaf968c',
  'aggregator()': '0x245a7bfc',
  'description()': '0x7284e416',
} as const satisfies Record<string, Hex>
