/** Pools of a pair by fee tier, as in Uniswap v3: v3 itself, and forks that kept its factory and its views. */
import { type AmmEvent, type NewPool, type Slot, tick } from '@assay/engine'
import type { LogEntry } from '../feed/answers/entry.ts'
import type { Address, Hex } from '../ops/hex.ts'
import { SELECTOR } from './abi.ts'
import { create2 } from './create2.ts'
import type { ConfigOf, MarketFamily, Pair, Reader } from './family.ts'
import { answered, askFactory, isWord } from './reading.ts'
import { SLOT_TOPIC, readSwap, slotLogs, slotSignatures } from './slotLogs.ts'
import { readWithTicks, tickCalls } from './slotReader.ts'
import {
  addressAt,
  encodeAddress,
  encodeInt,
  smallInt,
  smallIntAt,
  topicAddress,
  uintAt,
} from './abiWords.ts'

type Tiered = 'amm_v3' | 'amm_v3_pancake'
type Config = ConfigOf<Tiered>

export const TIER_TOPIC = {
  created: '0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118',
  ...SLOT_TOPIC,
} as const

/**
 * The differences between such families: the topic of a swap, whose first five words are the same, and the contract
 * that deploys the pools.
 */
export function tiered<F extends Tiered>(
  family: F,
  swap: { readonly topic: Hex; readonly signature: string },
  deployerOf: (deployment: Config) => Address,
): MarketFamily<F> {
  /** The salt is padded. */
  const derived = (deployment: Config, [token0, token1]: Pair, feePpm: bigint): Address | null => {
    const salted = [encodeAddress(token0), encodeAddress(token1), encodeInt(feePpm)]
    return create2(deployerOf(deployment), deployment.initCodeHash, ...salted)
  }

  const lookUp = async (
    reader: Reader,
    deployment: Config,
    pair: Pair,
    feePpm: bigint,
  ): Promise<NewPool | null> => {
    const selector = SELECTOR['getPool(address,address,uint24)']
    const pool = await askFactory(reader, deployment.factoryAddress, selector, pair, encodeInt(feePpm))
    if (pool === null || (derived(deployment, pair, feePpm) ?? pool) !== pool) return null
    const spacing = await reader.rpc.call(pool, SELECTOR['tickSpacing()'], reader.block.hash, reader.signal)
    return isWord(spacing) ? bornAt(family, deployment, pair, pool, feePpm, smallInt(spacing)) : null
  }

  const own: MarketFamily<Tiered> = {
    signatures: {
      [TIER_TOPIC.created]: 'PoolCreated(address,address,uint24,int24,address)',
      ...slotSignatures,
      [swap.topic]: swap.signature,
    },
    creations: [TIER_TOPIC.created],

    logs: new Map<string, (log: LogEntry) => AmmEvent>([...slotLogs, [swap.topic, readSwap]]),

    holder: null,

    factoryLog(log, deployment, wants) {
      const [topic, first, second, fee] = log.topics
      if (topic !== TIER_TOPIC.created || first === undefined || second === undefined || fee === undefined)
        return []
      const pair = [topicAddress(first), topicAddress(second)] as const
      if (!wants(...pair)) return []
      const pool = addressAt(log.data, 1)
      if ((derived(deployment, pair, BigInt(fee)) ?? pool) !== pool) return []
      const born = bornAt(family, deployment, pair, pool, BigInt(fee), smallIntAt(log.data, 0))
      return [{ pool, event: { kind: 'CREATED', pool: born } }]
    },

    derived,

    async find(reader, deployment, pair) {
      const found = deployment.feeTiers.map(tier => lookUp(reader, deployment, pair, BigInt(tier)))
      return (await Promise.all(found)).filter(pool => pool !== null)
    },

    async identify(reader, deployment, pair, pool) {
      const fee = await reader.rpc.call(pool, SELECTOR['fee()'], reader.block.hash, reader.signal)
      if (!isWord(fee)) return null
      const found = await lookUp(reader, deployment, pair, uintAt(fee, 0))
      return found?.address === pool ? found : null
    },

    load: (reader, _deployment, { address, fee }, known, span) => {
      if (!('tickSpacing' in fee)) throw new RangeError(`${address} has no ticks`)
      const calls = tickCalls(address, SELECTOR['tickBitmap(int16)'], SELECTOR['ticks(int24)'])
      return readWithTicks(
        reader,
        calls,
        fee.tickSpacing,
        () => readState(family, reader, address),
        known,
        span,
      )
    },

    readState: (reader, _deployment, pool) => readState(family, reader, pool),
  }
  return own as unknown as MarketFamily<F>
}

const bornAt = (
  family: Tiered,
  { deploymentId }: Config,
  [token0, token1]: Pair,
  address: Address,
  feePpm: bigint,
  spacing: number,
): NewPool => ({
  address,
  deploymentId,
  token0,
  token1,
  fee: { family, feePpm, tickSpacing: tick(spacing) },
})

async function readState(
  family: Tiered,
  reader: Reader,
  pool: Address,
): Promise<{ readonly family: Tiered } & Slot> {
  const [slot, liquidity] = await Promise.all([
    answered(reader, pool, SELECTOR['slot0()']),
    answered(reader, pool, SELECTOR['liquidity()']),
  ])
  return {
    family,
    sqrtPriceX96: uintAt(slot, 0),
    tick: tick(smallIntAt(slot, 1)),
    liquidity: uintAt(liquidity, 0),
  }
}
