/**
 * Decodes logs to pool events. A topic never identifies a pool: an event counts only from a pool already accepted, a
 * creation only from a listed factory's own address.
 */
import { count, type Family, type PoolEvent } from '@assay/engine'
import type { VerifiedBlock } from '../feed/feed.ts'
import type { DeploymentConfig } from '../config/config.ts'
import type { Address } from '../ops/hex.ts'
import { ANY_LOGS, marketOf, POOL_TOPICS } from './families.ts'
import type { Market, PoolEvents } from './market.ts'

const TOPICS: ReadonlySet<string> = new Set(POOL_TOPICS)

export function decodeBlock(
  deployments: readonly DeploymentConfig[],
  block: VerifiedBlock,
  ...[familyOf, wants]: [Parameters<Market['decode']>[1], Parameters<Market['decode']>[2]]
): PoolEvents {
  const factories = new Map(deployments.map(deployment => [deployment.factoryAddress, deployment]))
  const born = new Map<Address, Family>()
  const events: PoolEvent[] = []
  const isKnown = (pool: Address) => born.has(pool) || familyOf(pool) !== null
  for (const log of block.logs) {
    const { address, transactionHash } = log
    const factory = factories.get(address)
    const topic = log.topic ?? ''
    if (factory === undefined && !TOPICS.has(topic)) continue
    if (factory !== undefined) {
      for (const { pool, event } of marketOf(factory.family).factoryLog(log, factory, wants, isKnown)) {
        if (event.kind === 'CREATED') born.set(pool, factory.family)
        const { family } = factory
        events.push({ pool, family, event, transactionHash, logIndex: count(log.logIndex) } as PoolEvent)
      }
      continue
    }
    const family = familyOf(address) ?? born.get(address) ?? null
    if (family === null) continue
    const read = (family === 'UNTOLD' ? ANY_LOGS : marketOf(family).logs).get(topic)
    if (read === undefined) continue
    const event = read(log)
    events.push({ pool: address, family, event, transactionHash, logIndex: count(log.logIndex) } as PoolEvent)
  }
  return events
}
