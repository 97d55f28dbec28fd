/**
 * Uniswap v4: one manager holds all pools and identifies each by the hash of its key. Pools are looked up under the
 * usual keys; a pool with another key is found through the manager's log of its creation.
 */
import { type NewPool, tick, type V4State } from '@assay/engine'
import type { LogEntry } from '../../feed/answers/entry.ts'
import type { Address, Hex } from '../../ops/hex.ts'
import type { ConfigOf, MarketFamily, Pair, PoolLog, Reader } from '../family.ts'
import { answered, isWord } from '../reading.ts'
import { readWithTicks, type TickCalls } from '../slotReader.ts'
import { callData, encodeAddress, topicAddress, uintAt } from '../abiWords.ts'
import { poolOf, readEvent, readKey, SIGNATURES, TOPIC } from './logs.ts'
import { NATIVE, type PoolKey, poolIdOf } from './poolKey.ts'
import { slot0Of, slotsOf, tickOf } from './storage.ts'

type Config = ConfigOf<'amm_v4'>

/** Fees in ppm with their tick spacings, as common interfaces offer them, without a hook. */
const USUAL = [
  { fee: 100n, tickSpacing: 1 },
  { fee: 500n, tickSpacing: 10 },
  { fee: 3000n, tickSpacing: 60 },
  { fee: 10_000n, tickSpacing: 200 },
] as const

/** extsload(bytes32) */
const EXTSLOAD = '0x1e2eaeaf'

export const v4: MarketFamily<'amm_v4'> = {
  signatures: SIGNATURES,
  creations: [TOPIC.initialize],
  logs: new Map(),

  holder: {
    creationsOf({ wrappedNative }, tokens) {
      const currencies = tokens.includes(wrappedNative) ? [NATIVE, ...tokens] : tokens
      const topics = currencies.map((each): Hex => `0x${encodeAddress(each)}`)
      return [[TOPIC.initialize], null, topics, topics]
    },
  },

  factoryLog(log, deployment, wants, isKnown) {
    const id = poolOf(log)
    if (id === null) return []
    if (log.topic !== TOPIC.initialize) {
      // Nobody follows most pools of a manager: of their logs, only the id is read.
      if (!isKnown(id)) return []
      const event = readEvent(log)
      return event === null ? [] : [{ pool: id, event }]
    }
    const tokens = tokensOf(log, deployment)
    if (tokens === null || !wants(...tokens)) return []
    const key = readKey(log)
    const event = readEvent(log)
    if (key === null || event === null) return []
    const pool = bornAt(deployment, id, key)
    const created: PoolLog = { pool: id, event: { kind: 'CREATED', pool } }
    return [created, { pool: id, event }]
  },

  async find(reader, deployment, pair) {
    const found = keysOf(deployment, pair).map(async key => {
      const id = poolIdOf(key)
      const { sqrtPriceX96 } = await readSlot0(reader, deployment, id)
      return sqrtPriceX96 === 0n ? null : bornAt(deployment, id, key)
    })
    return (await Promise.all(found)).filter(pool => pool !== null)
  },

  async load(reader, deployment, { address: id, fee }, known, span) {
    if (deployment === undefined || fee.family !== 'amm_v4') throw new RangeError(`${id} has no manager`)
    const calls = tickCallsOf(deployment, id)
    return readWithTicks(reader, calls, fee.tickSpacing, () => readState(reader, deployment, id), known, span)
  },

  derived: () => null,
  identify: () => Promise.resolve(null),

  readState(reader, deployment, id) {
    if (deployment === undefined) throw new RangeError(`${id} has no manager`)
    return readState(reader, deployment, id)
  },
}

/**
 * With wrapped native, a pair has two pools of each kind: one with the wrapped token and one with the native currency.
 */
function keysOf({ wrappedNative }: Config, [token0, token1]: Pair): readonly PoolKey[] {
  const other = token0 === wrappedNative ? token1 : token1 === wrappedNative ? token0 : null
  const pairs: readonly Pair[] = [[token0, token1], ...(other === null ? [] : [[NATIVE, other] as const])]
  return pairs.flatMap(([currency0, currency1]) =>
    USUAL.map(usual => ({ currency0, currency1, ...usual, hooks: NATIVE })),
  )
}

/** Reports the native currency as the wrapped token. */
function bornAt({ deploymentId, wrappedNative, factoryAddress }: Config, id: Hex, key: PoolKey): NewPool {
  const isNative = key.currency0 === NATIVE
  return {
    address: id,
    deploymentId,
    token0: isNative ? wrappedNative : key.currency0,
    token1: key.currency1,
    fee: {
      family: 'amm_v4',
      keyFee: key.fee,
      tickSpacing: tick(key.tickSpacing),
      hooks: key.hooks,
      isNative,
      manager: factoryAddress,
    },
  }
}

/** The tokens of an Initialize log, which it states as topics. */
function tokensOf({ topics }: LogEntry, { wrappedNative }: Config): Pair | null {
  const [, , currency0, currency1] = topics
  if (currency0 === undefined || currency1 === undefined) return null
  const token0 = topicAddress(currency0)
  return [token0 === NATIVE ? wrappedNative : token0, topicAddress(currency1)]
}

const load = (slot: string): Hex => callData(EXTSLOAD, slot)

function tickCallsOf({ factoryAddress }: Config, id: Hex): TickCalls {
  const slots = slotsOf(id)
  return {
    at: factoryAddress,
    word: position => load(slots.word(position)),
    tick: at => load(slots.tick(at)),
    liquidity: answer => tickOf(uintAt(answer, 0)),
  }
}

async function readState(reader: Reader, { factoryAddress }: Config, id: Address): Promise<V4State> {
  const slots = slotsOf(id)
  const [slot0, liquidity] = await Promise.all([
    answered(reader, factoryAddress, load(slots.slot0)),
    answered(reader, factoryAddress, load(slots.liquidity)),
  ])
  const { sqrtPriceX96, tick: at, protocolFee, lpFeePpm } = slot0Of(uintAt(slot0, 0))
  return {
    family: 'amm_v4',
    sqrtPriceX96,
    tick: at,
    liquidity: uintAt(liquidity, 0),
    lpFeePpm,
    protocolFee,
  }
}

/** A contract that is no v4 manager returns nothing, and so has no pools. */
async function readSlot0({ rpc, block, signal }: Reader, { factoryAddress }: Config, id: Hex) {
  const answer = await rpc.call(factoryAddress, load(slotsOf(id).slot0), block.hash, signal)
  return slot0Of(isWord(answer) ? uintAt(answer, 0) : 0n)
}
