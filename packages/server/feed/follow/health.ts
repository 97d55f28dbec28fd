/**
 * The health of a chain's feed (R-health-1, R-health-2) as a pure function of the observation and the clock. It gets
 * worse at once, and better only after three processed blocks and five seconds without a relapse. Only processed blocks
 * count, because a block that was fetched ahead may be the last for a while.
 *
 * This file knows neither pauses, which belong to the worker, nor silence, which only an API node can detect.
 */
import type { HealthRecord, HealthStatus } from '../feed.ts'
import type { Final } from './finality.ts'
import type { Progress } from './follower.ts'

export type Observation = Progress & {
  readonly final: Final | null
  /** Monotonic time at which finality last moved. */
  readonly finalityAtMs: number
  /** The endpoints do not have the tag that the configuration asks for. */
  readonly isFinalByFallback: boolean
  /** False while no endpoint has shown that it serves the chain. */
  readonly hasIdentity: boolean
  /** Only one of several endpoints has known the head for too long. */
  readonly isUnconfirmed: boolean
  /** At least two endpoints answer, and none of them knows a block above our head. */
  readonly isStallAgreed: boolean
}

export type Moment = { readonly nowMs: number; readonly monotonicMs: number }

export type HealthReason =
  | 'HALTED'
  | 'NO_ENDPOINT'
  | 'NO_VERIFIED_HEAD'
  | 'BEHIND'
  | 'BLOCK_REFUSED'
  | 'HEAD_OLD'
  | 'CHAIN_STALLED'
  | 'HEAD_UNCONFIRMED'
  | 'NO_PROOF'
  | 'FINALITY_STALLED'
  | 'CLOCK'
  | 'FINALITY_BY_DEPTH'

export type Health = {
  readonly status: HealthStatus
  /** Worst first. */
  readonly reasons: readonly HealthReason[]
  /** When the feed was last at least this bad, and the number of processed blocks at that time. */
  readonly bad: { readonly atMs: number; readonly processedBlocks: number }
  /** Wall minus monotonic time: it changes only when the wall clock is set. */
  readonly clockOffsetMs: number
  readonly hasHead: boolean
}

const SEVERITY = { HEALTHY: 0, DEGRADED: 1, GAP: 2, UNAVAILABLE: 3 } as const

const STATUS_OF = {
  HALTED: 'UNAVAILABLE',
  NO_ENDPOINT: 'UNAVAILABLE',
  NO_VERIFIED_HEAD: 'UNAVAILABLE',
  BEHIND: 'GAP',
  BLOCK_REFUSED: 'GAP',
  HEAD_OLD: 'DEGRADED',
  CHAIN_STALLED: 'DEGRADED',
  HEAD_UNCONFIRMED: 'DEGRADED',
  NO_PROOF: 'DEGRADED',
  FINALITY_STALLED: 'DEGRADED',
  CLOCK: 'DEGRADED',
  // Informative only; the feed is as good as before.
  FINALITY_BY_DEPTH: 'HEALTHY',
} as const satisfies Readonly<Record<HealthReason, HealthStatus>>

/**
 * Each limit is the longer of a time and a number of blocks: block times range from a quarter of a second to twelve.
 */
const NO_HEAD = { leastMs: 120_000, blocks: 40 } as const
const GAP = { leastMs: 15_000, blocks: 5 } as const
const HEAD_OLD = { leastMs: 20_000, blocks: 8 } as const
const FINALITY_STALLED_MS = 30 * 60_000
const BLOCK_AHEAD_MS = 60_000
const CLOCK_STEP_MS = 5000
const RECOVERY = { blocks: 3, ms: 5000 } as const

/** The health before the first observation. */
export function startHealth({ nowMs, monotonicMs }: Moment): Health {
  return {
    status: 'UNAVAILABLE',
    reasons: ['NO_VERIFIED_HEAD'],
    bad: { atMs: monotonicMs, processedBlocks: 0 },
    clockOffsetMs: nowMs - monotonicMs,
    hasHead: false,
  }
}

export function nextHealth(health: Health, seen: Observation, blockTimeMs: number, moment: Moment): Health {
  const clockOffsetMs = moment.nowMs - moment.monotonicMs
  const reasons = reasonsOf(seen, blockTimeMs, moment)
  if (Math.abs(clockOffsetMs - health.clockOffsetMs) > CLOCK_STEP_MS && !reasons.includes('CLOCK'))
    reasons.push('CLOCK')
  if (seen.isFinalByFallback) reasons.push('FINALITY_BY_DEPTH')
  const status = reasons[0] === undefined ? 'HEALTHY' : STATUS_OF[reasons[0]]
  const hasHead = health.hasHead || seen.head !== null
  const adopted: Health = {
    status,
    reasons,
    bad: { atMs: moment.monotonicMs, processedBlocks: seen.processedBlocks },
    clockOffsetMs,
    hasHead,
  }
  // The first head ends the start phase, which needs no recovery period.
  if (!health.hasHead && hasHead) return adopted
  if (SEVERITY[status] >= SEVERITY[health.status]) return adopted
  const isRecovered =
    seen.processedBlocks - health.bad.processedBlocks >= RECOVERY.blocks &&
    moment.monotonicMs - health.bad.atMs >= RECOVERY.ms
  return isRecovered ? adopted : { ...health, clockOffsetMs, hasHead }
}

/** Whether two healths look the same to a consumer. */
export const isSameHealth = (a: Health, b: Health): boolean =>
  a.status === b.status && a.reasons.join() === b.reasons.join()

export function toRecord(
  health: Health,
  seen: Observation,
  chainId: number,
  endpoints: HealthRecord['endpoints'],
  nowMs: number,
): HealthRecord {
  const { head, processed, final } = seen
  return {
    chain_id: chainId,
    status: health.status,
    reasons: health.reasons,
    head: positionOf(head),
    processed: positionOf(processed),
    finalized: final === null ? null : { block_number: final.number, block_hash: final.hash },
    lag_blocks: head === null || processed === null ? null : Math.max(0, head.number - processed.number),
    lag_ms: head === null || processed === null ? null : Math.max(0, head.timeMs - processed.timeMs),
    endpoints,
    updated_at_ms: nowMs,
  }
}

const positionOf = (block: Progress['processed']): HealthRecord['processed'] =>
  block === null ? null : { block_number: block.number, block_hash: block.hash, block_time_ms: block.timeMs }

/**
 * Worst first. The age of the head counts from its own time or from when we first saw it, whichever is earlier. A gap
 * counts existing blocks: from the processed one to the head by their timestamps, or since an unprocessed block was
 * first seen.
 */
function reasonsOf(seen: Observation, blockTimeMs: number, { nowMs, monotonicMs }: Moment): HealthReason[] {
  const { head, processed, nextSeenAtMs } = seen
  const reasons: HealthReason[] = []
  const limitMs = (limit: { readonly leastMs: number; readonly blocks: number }): number =>
    Math.max(limit.leastMs, limit.blocks * blockTimeMs)
  const headAgeMs =
    head === null ? Number.POSITIVE_INFINITY : Math.max(nowMs - head.timeMs, monotonicMs - head.seenAtMs)

  if (seen.isHalted) reasons.push('HALTED')
  if (!seen.hasIdentity) reasons.push('NO_ENDPOINT')
  if (headAgeMs > limitMs(NO_HEAD)) reasons.push('NO_VERIFIED_HEAD')
  const behindMs = head === null || processed === null ? 0 : head.timeMs - processed.timeMs
  const waitedMs = nextSeenAtMs === null ? 0 : monotonicMs - nextSeenAtMs
  if (Math.max(behindMs, waitedMs) > limitMs(GAP)) reasons.push('BEHIND')
  if (seen.refusedSinceMs !== null && monotonicMs - seen.refusedSinceMs > limitMs(GAP))
    reasons.push('BLOCK_REFUSED')
  if (headAgeMs > limitMs(HEAD_OLD) && headAgeMs <= limitMs(NO_HEAD)) reasons.push('HEAD_OLD')
  // The chain itself has stopped; our endpoints work.
  if (head !== null && headAgeMs > limitMs(HEAD_OLD) && seen.isStallAgreed) reasons.push('CHAIN_STALLED')
  if (seen.isUnconfirmed) reasons.push('HEAD_UNCONFIRMED')
  if (seen.proof === 'none') reasons.push('NO_PROOF')
  if (head !== null && monotonicMs - seen.finalityAtMs > FINALITY_STALLED_MS) reasons.push('FINALITY_STALLED')
  if (head !== null && head.timeMs - nowMs > BLOCK_AHEAD_MS) reasons.push('CLOCK')
  return reasons
}
