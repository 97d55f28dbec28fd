/**
 * Decodes the logs of a v4 manager. All pools are in one contract: the first topic is the event, the second the pool.
 */
import { tick } from '@assay/engine'
import type { V4Event } from '@assay/engine'
import type { LogEntry } from '../../feed/answers/entry.ts'
import type { Hex } from '../../ops/hex.ts'
import { intIn, smallIntIn, uintIn } from '../logWords.ts'
import { addressAt, topicAddress } from '../abiWords.ts'
import { type PoolKey, poolIdOf } from './poolKey.ts'

export const TOPIC = {
  initialize: '0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438',
  modify: '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec',
  swap: '0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f',
  protocolFee: '0xe9c42593e71f84403b84352cd168d693e2c9fcd1fdbcc3feb21d92b43e6696f9',
} as const

export const SIGNATURES = {
  [TOPIC.initialize]: 'Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)',
  [TOPIC.modify]: 'ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)',
  [TOPIC.swap]: 'Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)',
  [TOPIC.protocolFee]: 'ProtocolFeeUpdated(bytes32,uint24)',
} as const

/** The id of the pool that the log is about; null for a log of the manager about no pool. */
export const poolOf = (log: LogEntry): Hex | null => log.topicAt(1)

/** The event of a pool; null for a log that changes none. */
export function readEvent(log: LogEntry): V4Event | null {
  switch (log.topic) {
    case TOPIC.swap:
      // The manager reports amounts from the swapper's side; ours are from the pool's side.
      return {
        kind: 'SWAP',
        amount0: -intIn(log, 0),
        amount1: -intIn(log, 1),
        sqrtPriceX96: uintIn(log, 2),
        liquidity: uintIn(log, 3),
        tick: tick(smallIntIn(log, 4)),
        feePpm: uintIn(log, 5),
      }
    case TOPIC.modify:
      return {
        kind: 'MODIFY',
        tickLower: tick(smallIntIn(log, 0)),
        tickUpper: tick(smallIntIn(log, 1)),
        liquidityDelta: intIn(log, 2),
      }
    case TOPIC.initialize:
      return { kind: 'INITIALIZE', sqrtPriceX96: uintIn(log, 3), tick: tick(smallIntIn(log, 4)) }
    case TOPIC.protocolFee:
      return { kind: 'PROTOCOL_FEE', protocolFee: uintIn(log, 0) }
    case null:
    default:
      return null
  }
}

/** The key in an Initialize log; null when it does not hash to the id in the same log. */
export function readKey(log: LogEntry): PoolKey | null {
  const [, id, currency0, currency1] = log.topics
  if (id === undefined || currency0 === undefined || currency1 === undefined) return null
  const key: PoolKey = {
    currency0: topicAddress(currency0),
    currency1: topicAddress(currency1),
    fee: uintIn(log, 0),
    tickSpacing: smallIntIn(log, 1),
    hooks: addressAt(log.data, 2),
  }
  return poolIdOf(key) === id ? key : null
}
