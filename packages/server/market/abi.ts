/**
 * Function selectors, and the topic of price feeds. Those of pools are in their families' folders. Tests derive them
 * independently.
 */
import type { Hex } from '../ops/hex.ts'

/** AnswerUpdated(int256,uint256,uint256) */
export const ANSWER_UPDATED: Hex = '0x0559884fd3a460db3073b7fc896cc77986f16e378210ded43186175bf646fc5f'

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
  'poolDeployer()': '0x3119049a',
  'globalState()': '0xe76c01e4',
  'tickTable(int16)': '0xc677e3e0',
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
