/**
 * Algebra v1: one pool per pair, made by a deployer beside the factory. The fee is in the pool's state and has a log of
 * its own.
 */
import { type AmmEvent, count, type LoadedPool, type NewPool, tick } from '@assay/engine'
import type { LogEntry } from '../../feed/answers/entry.ts'
import type { Address } from '../../ops/hex.ts'
import { SELECTOR } from '../abi.ts'
import { create2 } from '../create2.ts'
import type { ConfigOf, MarketFamily, Pair, Reader } from '../family.ts'
import { smallIntIn } from '../logWords.ts'
import { onePerPair } from '../onePerPair.ts'
import { answered, askFactory, isWord } from '../reading.ts'
import { readSwap, SLOT_TOPIC, slotLogs, slotSignatures } from '../slotLogs.ts'
import { readWithTicks, tickCalls } from '../slotReader.ts'
import { encodeAddress, smallInt, smallIntAt, uintAt } from '../abiWords.ts'

type Config = ConfigOf<'amm_algebra_v1'>

export const TOPIC = {
  created: '0x91ccaa7a278130b65168c3a0c8d3bcae84cf5e43704342bd3ec0b59e59c036db',
  ...SLOT_TOPIC,
  swap: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
  fee: '0x598b9f043c813aa6be3426ca60d1c65d17256312890be5118dab55b0775ebe2a',
} as const

/** Tick spacing of every pool; a new pool cannot be read before its block is. */
const SPACING = 60

export const algebra: MarketFamily<'amm_algebra_v1'> = {
  signatures: {
    [TOPIC.created]: 'Pool(address,address,address)',
    ...slotSignatures,
    [TOPIC.swap]: 'Swap(address,address,int256,int256,uint160,uint128,int24)',
    [TOPIC.fee]: 'Fee(uint16)',
  },
  creations: [TOPIC.created],

  logs: new Map<string, (log: LogEntry) => AmmEvent>([
    ...slotLogs,
    [TOPIC.swap, readSwap],
    [TOPIC.fee, log => ({ kind: 'FEE', feePpm: count(smallIntIn(log, 0)) })],
  ]),

  holder: null,

  ...onePerPair<'amm_algebra_v1'>({
    created: TOPIC.created,
    derived,
    born: (deployment, pair, pool) => bornAt(deployment, pair, pool, SPACING),
    lookUp,
  }),

  load: (reader, _deployment, { address, fee }, known, span) => {
    if (!('tickSpacing' in fee)) throw new RangeError(`${address} has no ticks`)
    const calls = tickCalls(address, SELECTOR['tickTable(int16)'], SELECTOR['ticks(int24)'])
    return readWithTicks(reader, calls, fee.tickSpacing, () => readState(reader, address), known, span)
  },

  readState: (reader, _deployment, pool) => readState(reader, pool),
}

/** The salt is padded. */
function derived({ deployerAddress, initCodeHash }: Config, [token0, token1]: Pair): Address | null {
  return create2(deployerAddress, initCodeHash, encodeAddress(token0), encodeAddress(token1))
}

async function lookUp(reader: Reader, deployment: Config, pair: Pair): Promise<NewPool | null> {
  const { factoryAddress } = deployment
  const pool = await askFactory(reader, factoryAddress, SELECTOR['poolByPair(address,address)'], pair)
  if (pool === null || (derived(deployment, pair) ?? pool) !== pool) return null
  const spacing = await reader.rpc.call(pool, SELECTOR['tickSpacing()'], reader.block.hash, reader.signal)
  return isWord(spacing) ? bornAt(deployment, pair, pool, smallInt(spacing)) : null
}

const bornAt = (
  { deploymentId }: Config,
  [token0, token1]: Pair,
  address: Address,
  spacing: number,
): NewPool => ({
  address,
  deploymentId,
  token0,
  token1,
  fee: { family: 'amm_algebra_v1', tickSpacing: tick(spacing) },
})

async function readState(
  reader: Reader,
  pool: Address,
): Promise<Extract<LoadedPool['state'], { readonly family: 'amm_algebra_v1' }>> {
  const [global, liquidity] = await Promise.all([
    answered(reader, pool, SELECTOR['globalState()']),
    answered(reader, pool, SELECTOR['liquidity()']),
  ])
  return {
    family: 'amm_algebra_v1',
    sqrtPriceX96: uintAt(global, 0),
    tick: tick(smallIntAt(global, 1)),
    liquidity: uintAt(liquidity, 0),
    feePpm: uintAt(global, 2),
  }
}
