/**
 * Logs to pool events. A topic never identifies a pool: an event counts only from a pool already accepted, a
 * creation only from a listed factory's own address.
 */
import { count, tick } from '@assay/engine'
import type { RawLog, VerifiedBlock } from '../feed/feed.ts'
import type { Address, DeploymentConfig } from '../ops/config.ts'
import { TOPIC } from './abi.ts'
import { poolAddress } from './create2.ts'
import type { Market, PoolEvents } from './market.ts'
import { addressAt, intAt, smallInt, topicAddress, uintAt } from './words.ts'

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
    const factory = factories.get(log.address)
    const decoded =
      factory === undefined
        ? poolEvent(log, pool => knows(pool) || born.has(pool))
        : creation(log, factory, wants)
    if (decoded === null) continue
    if (decoded.event.kind === 'CREATED') born.add(decoded.pool)
    events.push({
      pool: decoded.pool,
      family: decoded.family,
      event: decoded.event,
      transactionHash: log.transactionHash,
      logIndex: count(log.logIndex),
    } as PoolEvent)
  }
  return events
}

function creation(
  log: RawLog,
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
      tickSpacing: tick(Number(intAt(log.data, 0))),
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

function poolEvent(log: RawLog, knows: (pool: Address) => boolean): Decoded | null {
  const { data, topics, address: pool } = log
  const topic: string = topics[0] ?? ''
  switch (topic) {
    case TOPIC.v2Sync:
      return known(pool, knows, () => ({
        pool,
        family: 'amm_v2',
        event: { kind: 'SYNC', reserve0: uintAt(data, 0), reserve1: uintAt(data, 1) },
      }))
    case TOPIC.v2Swap:
      return known(pool, knows, () => ({
        pool,
        family: 'amm_v2',
        event: {
          kind: 'SWAP',
          amount0In: uintAt(data, 0),
          amount1In: uintAt(data, 1),
          amount0Out: uintAt(data, 2),
          amount1Out: uintAt(data, 3),
        },
      }))
    case TOPIC.v2Mint:
      return known(pool, knows, () => ({
        pool,
        family: 'amm_v2',
        event: { kind: 'MINT', amount0: uintAt(data, 0), amount1: uintAt(data, 1) },
      }))
    case TOPIC.v2Burn:
      return known(pool, knows, () => ({
        pool,
        family: 'amm_v2',
        event: { kind: 'BURN', amount0: uintAt(data, 0), amount1: uintAt(data, 1) },
      }))
    case TOPIC.v3Initialize:
      return known(pool, knows, () => ({
        pool,
        family: 'amm_v3',
        event: { kind: 'INITIALIZE', sqrtPriceX96: uintAt(data, 0), tick: tick(Number(intAt(data, 1))) },
      }))
    case TOPIC.v3Swap:
      return known(pool, knows, () => ({
        pool,
        family: 'amm_v3',
        event: {
          kind: 'SWAP',
          amount0: intAt(data, 0),
          amount1: intAt(data, 1),
          sqrtPriceX96: uintAt(data, 2),
          liquidity: uintAt(data, 3),
          tick: tick(Number(intAt(data, 4))),
        },
      }))
    case TOPIC.v3Mint:
      return known(pool, knows, () => ({
        pool,
        family: 'amm_v3',
        event: { kind: 'MINT', ...position(log, 1) },
      }))
    case TOPIC.v3Burn:
      return known(pool, knows, () => ({
        pool,
        family: 'amm_v3',
        event: { kind: 'BURN', ...position(log, 0) },
      }))
    default:
      return null
  }
}

/** Owner, lower and upper tick are topics; `at` is where the liquidity stands in the data. */
function position(log: RawLog, at: number) {
  const [, , lower, upper] = log.topics
  if (lower === undefined || upper === undefined) throw new RangeError('a position event without its ticks')
  return {
    tickLower: tick(smallInt(lower)),
    tickUpper: tick(smallInt(upper)),
    liquidity: uintAt(log.data, at),
    amount0: uintAt(log.data, at + 1),
    amount1: uintAt(log.data, at + 2),
  }
}

const known = (pool: Address, knows: (pool: Address) => boolean, decode: () => Decoded): Decoded | null =>
  knows(pool) ? decode() : null
