/** Logs that pools with ticks have in common, whichever contract emits them. */
import { type AmmEvent, type SlotEvent, tick } from '@assay/engine'
import type { LogEntry } from '../feed/answers/entry.ts'
import { intIn, smallIntIn, uintIn } from './logWords.ts'
import { smallInt } from './abiWords.ts'

export const SLOT_TOPIC = {
  initialize: '0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95',
  mint: '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde',
  burn: '0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c',
} as const

export const slotSignatures = {
  [SLOT_TOPIC.initialize]: 'Initialize(uint160,int24)',
  [SLOT_TOPIC.mint]: 'Mint(address,address,int24,int24,uint128,uint256,uint256)',
  [SLOT_TOPIC.burn]: 'Burn(address,int24,int24,uint128,uint256,uint256)',
} as const

export const slotLogs: readonly (readonly [string, (log: LogEntry) => AmmEvent])[] = [
  [
    SLOT_TOPIC.initialize,
    log => ({ kind: 'INITIALIZE', sqrtPriceX96: uintIn(log, 0), tick: tick(smallIntIn(log, 1)) }),
  ],
  [SLOT_TOPIC.mint, log => ({ kind: 'MINT', ...position(log, 1) })],
  [SLOT_TOPIC.burn, log => ({ kind: 'BURN', ...position(log, 0) })],
]

/** Amounts, then price, liquidity and tick; words added by a family follow. */
export const readSwap = (log: LogEntry): Extract<SlotEvent, { kind: 'SWAP' }> => ({
  kind: 'SWAP',
  amount0: intIn(log, 0),
  amount1: intIn(log, 1),
  sqrtPriceX96: uintIn(log, 2),
  liquidity: uintIn(log, 3),
  tick: tick(smallIntIn(log, 4)),
})

/** Owner, lower and upper tick are topics; `at` is the word of the liquidity in the data. */
function position(log: LogEntry, at: number) {
  const [, , lower, upper] = log.topics
  if (lower === undefined || upper === undefined) throw new RangeError('a position event without its ticks')
  return {
    tickLower: tick(smallInt(lower)),
    tickUpper: tick(smallInt(upper)),
    liquidity: uintIn(log, at),
    amount0: uintIn(log, at + 1),
    amount1: uintIn(log, at + 2),
  }
}
