/**
 * Logs to pool events. A topic never identifies a pool: an event counts only from a pool already accepted, a
 * creation only from a listed factory's own address.
 */
import { count, tick } from '@assay/engine'
import type { LogEntry } from '../feed/entry.ts'
import type { VerifiedBlock } from '../feed/feed.ts'
import type { Address, DeploymentConfig } from '../ops/config.ts'
import { TOPIC } from './abi.ts'
import { poolAddress } from './create2.ts'
import type { Market, PoolEvents } from './market.ts'
import { intIn, smallIntIn, uintIn } from './logWords.ts'
import { addressAt, smallInt, smallIntAt, topicAddress } from './words.ts'

type PoolEvent = PoolEvents[number]
type Decoded = Pick<PoolEvent, 'pool' | 'family' | 'event'>

export function decodeBlock(
  deployments: readonly DeploymentConfig[],
  block: VerifiedBlock,
  ...[knows, wants]: [Parameters<Market['decode']>[1], Parameters<Market['decode']>[2]]
): PoolEvents {
  const factories = new Map(deployments.map(deployment => [deployment.factoryAddress, deployment]))
  const born = new Set<Address>()
  const events: PoolEvent[] = []
  for (const log of block.logs) {
    const { address, transactionHash } = log
    const logIndex = count(log.logIndex)
    const factory = factories.get(address)
    if (factory !== undefined) {
      const created = creation(log, factory, wants)
      if (created === null) continue
      born.add(created.pool)
      events.push({ ...created, transactionHash, logIndex } as PoolEvent)
      continue
    }
    const poolLog = POOL_LOGS.get(log.topic ?? '')
    if (poolLog === undefined || !(knows(address) || born.has(address))) continue
    const event = poolLog.decode(log)
    events.push({ pool: address, family: poolLog.family, event, transactionHash, logIndex } as PoolEvent)
  }
  return events
}

function creation(
  log: LogEntry,
  factory: DeploymentConfig,
  wants: Parameters<Market['decode']>[2],
): Decoded | null {
  const [topic, first, second, third] = log.topics
  if (first === undefined || second === undefined) return null
  const [token0, token1] = [topicAddress(first), topicAddress(second)]
  if (!wants(token0, token1)) return null
  const { deploymentId } = factory
  if (factory.family === 'amm_v2' && topic === TOPIC.v2PairCreated) {
    const address = addressAt(log.data, 0)
    if (!follows(factory, address, token0, token1, 0)) return null
    const fee = {
      family: 'amm_v2',
      numerator: BigInt(factory.fee.numerator),
      denominator: BigInt(factory.fee.denominator),
    } as const
    return {
      pool: address,
      family: 'amm_v2',
      event: { kind: 'CREATED', pool: { address, deploymentId, token0, token1, fee } },
    }
  }
  if (factory.family === 'amm_v3' && topic === TOPIC.v3PoolCreated && third !== undefined) {
    const address = addressAt(log.data, 1)
    if (!follows(factory, address, token0, token1, Number(BigInt(third)))) return null
    const fee = {
      family: 'amm_v3',
      feePpm: BigInt(third),
      tickSpacing: tick(smallIntAt(log.data, 0)),
    } as const
    return {
      pool: address,
      family: 'amm_v3',
      event: { kind: 'CREATED', pool: { address, deploymentId, token0, token1, fee } },
    }
  }
  return null
}

/** Where the init code hash is known, the address follows from it. */
function follows(
  factory: DeploymentConfig,
  address: Address,
  token0: Address,
  token1: Address,
  feePpm: number,
): boolean {
  const derived = poolAddress(factory, token0, token1, feePpm)
  return derived === null || derived === address
}

type PoolLog = {
  readonly family: PoolEvent['family']
  readonly decode: (log: LogEntry) => PoolEvent['event']
}

const POOL_LOGS: ReadonlyMap<string, PoolLog> = new Map<string, PoolLog>([
  [
    TOPIC.v2Sync,
    {
      family: 'amm_v2',
      decode: log => ({ kind: 'SYNC', reserve0: uintIn(log, 0), reserve1: uintIn(log, 1) }),
    },
  ],
  [
    TOPIC.v2Swap,
    {
      family: 'amm_v2',
      decode: log => ({
        kind: 'SWAP',
        amount0In: uintIn(log, 0),
        amount1In: uintIn(log, 1),
        amount0Out: uintIn(log, 2),
        amount1Out: uintIn(log, 3),
      }),
    },
  ],
  [
    TOPIC.v2Mint,
    {
      family: 'amm_v2',
      decode: log => ({ kind: 'MINT', amount0: uintIn(log, 0), amount1: uintIn(log, 1) }),
    },
  ],
  [
    TOPIC.v2Burn,
    {
      family: 'amm_v2',
      decode: log => ({ kind: 'BURN', amount0: uintIn(log, 0), amount1: uintIn(log, 1) }),
    },
  ],
  [
    TOPIC.v3Initialize,
    {
      family: 'amm_v3',
      decode: log => ({
        kind: 'INITIALIZE',
        sqrtPriceX96: uintIn(log, 0),
        tick: tick(smallIntIn(log, 1)),
      }),
    },
  ],
  [
    TOPIC.v3Swap,
    {
      family: 'amm_v3',
      decode: log => ({
        kind: 'SWAP',
        amount0: intIn(log, 0),
        amount1: intIn(log, 1),
        sqrtPriceX96: uintIn(log, 2),
        liquidity: uintIn(log, 3),
        tick: tick(smallIntIn(log, 4)),
      }),
    },
  ],
  [TOPIC.v3Mint, { family: 'amm_v3', decode: log => ({ kind: 'MINT', ...position(log, 1) }) }],
  [TOPIC.v3Burn, { family: 'amm_v3', decode: log => ({ kind: 'BURN', ...position(log, 0) }) }],
])

/** Owner, lower and upper tick are topics; `at` is where the liquidity stands in the data. */
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
