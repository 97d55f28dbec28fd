/** Uniswap v3: a pool for each fee tier of a pair, made by its factory. */
import { type AmmEvent, type NewPool, type Slot, tick } from '@assay/engine'
import type { LogEntry } from '../../feed/entry.ts'
import type { Address } from '../../ops/config.ts'
import { SELECTOR } from '../abi.ts'
import { create2 } from '../create2.ts'
import type { ConfigOf, MarketFamily, Pair, Reader } from '../family.ts'
import { answered, askFactory, isWord } from '../reading.ts'
import { readSwap, SLOT_TOPIC, slotLogs, slotSignatures } from '../slotLogs.ts'
import { readWithTicks, tickCalls } from '../slotReader.ts'
import { addressAt, encodeAddress, encodeInt, smallInt, smallIntAt, topicAddress, uintAt } from '../words.ts'

type Config = ConfigOf<'amm_v3'>

export const TOPIC = {
  created: '0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118',
  ...SLOT_TOPIC,
  swap: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
} as const

export const v3: MarketFamily<'amm_v3'> = {
  signatures: {
    [TOPIC.created]: 'PoolCreated(address,address,uint24,int24,address)',
    ...slotSignatures,
    [TOPIC.swap]: 'Swap(address,address,int256,int256,uint160,uint128,int24)',
  },
  creations: [TOPIC.created],

  logs: new Map<string, (log: LogEntry) => AmmEvent>([...slotLogs, [TOPIC.swap, readSwap]]),

  factoryLog(log, deployment, wants) {
    const [topic, first, second, fee] = log.topics
    if (topic !== TOPIC.created || first === undefined || second === undefined || fee === undefined) return []
    const pair = [topicAddress(first), topicAddress(second)] as const
    if (!wants(...pair)) return []
    const pool = addressAt(log.data, 1)
    if ((tierAddress(deployment, pair, BigInt(fee)) ?? pool) !== pool) return []
    const born = bornAt(deployment, pair, pool, BigInt(fee), smallIntAt(log.data, 0))
    return [{ pool, event: { kind: 'CREATED', pool: born } }]
  },

  derived: tierAddress,

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
    return readWithTicks(reader, calls, fee.tickSpacing, () => readState(reader, address), known, span)
  },

  readState: (reader, _deployment, pool) => readState(reader, pool),
}

/** The salt is padded. */
function tierAddress(
  { factoryAddress, initCodeHash }: Config,
  [token0, token1]: Pair,
  feePpm: bigint,
): Address | null {
  const salted = [encodeAddress(token0), encodeAddress(token1), encodeInt(feePpm)]
  return create2(factoryAddress, initCodeHash, ...salted)
}

async function lookUp(
  reader: Reader,
  deployment: Config,
  pair: Pair,
  feePpm: bigint,
): Promise<NewPool | null> {
  const selector = SELECTOR['getPool(address,address,uint24)']
  const pool = await askFactory(reader, deployment.factoryAddress, selector, pair, encodeInt(feePpm))
  if (pool === null || (tierAddress(deployment, pair, feePpm) ?? pool) !== pool) return null
  const spacing = await reader.rpc.call(pool, SELECTOR['tickSpacing()'], reader.block.hash, reader.signal)
  return isWord(spacing) ? bornAt(deployment, pair, pool, feePpm, smallInt(spacing)) : null
}

const bornAt = (
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
  fee: { family: 'amm_v3', feePpm, tickSpacing: tick(spacing) },
})

async function readState(reader: Reader, pool: Address): Promise<{ readonly family: 'amm_v3' } & Slot> {
  const [slot, liquidity] = await Promise.all([
    answered(reader, pool, SELECTOR['slot0()']),
    answered(reader, pool, SELECTOR['liquidity()']),
  ])
  return {
    family: 'amm_v3',
    sqrtPriceX96: uintAt(slot, 0),
    tick: tick(smallIntAt(slot, 1)),
    liquidity: uintAt(liquidity, 0),
  }
}
