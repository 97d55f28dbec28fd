import { describe, expect, it } from 'vitest'
import type { HealthStatus } from '../feed.ts'
import {
  type Health,
  type HealthReason,
  type Moment,
  nextHealth,
  type Observation,
  startHealth,
  toRecord,
} from './health.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
/** Wall and monotonic time differ, so that a rule that mixes them up shows. */
const WALL_MS = 1_700_000_000_000
const at = (elapsedMs: number, stepMs = 0): Moment => ({
  nowMs: WALL_MS + elapsedMs + stepMs,
  monotonicMs: 5000 + elapsedMs,
})
const block = (number: number, elapsedMs: number) =>
  ({ number, hash: `0x${number.toString(16).padStart(64, '0')}`, timeMs: WALL_MS + elapsedMs }) as const
const headAt = (elapsedMs: number) => ({ ...block(1, elapsedMs), seenAtMs: 5000 + elapsedMs })

const GOOD: Observation = {
  head: headAt(0),
  processed: block(1, 0),
  nextSeenAtMs: null,
  refusedSinceMs: null,
  processedBlocks: 1,
  proof: 'receipts',
  isHalted: false,
  final: null,
  finalityAtMs: 5000,
  isFinalByFallback: false,
  hasIdentity: true,
  isUnconfirmed: false,
  isStallAgreed: false,
}

/** With the head processed, unless it says otherwise. */
const observed = (seen: Partial<Observation>): Observation => ({
  ...GOOD,
  ...(seen.head === undefined ? {} : { processed: seen.head }),
  ...seen,
})

const assess = (seen: Partial<Observation>, elapsedMs: number, blockTimeMs = SECOND) => {
  const { status, reasons } = nextHealth(startHealth(at(0)), observed(seen), blockTimeMs, at(elapsedMs))
  return [status, ...reasons]
}

/** A block that was seen then and is not processed. */
const pendingSince = (elapsedMs: number) => ({ nextSeenAtMs: 5000 + elapsedMs })

/** A head made and seen so long after the processed block. */
const behind = (elapsedMs: number) => ({ head: headAt(elapsedMs), processed: block(1, 0) })

describe('R-health-1: the status', () => {
  const rows: readonly [
    what: string,
    seen: Partial<Observation>,
    elapsedMs: number,
    blockTimeMs: number,
    status: HealthStatus,
    ...reasons: HealthReason[],
  ][] = [
    ['a fresh head', {}, 0, SECOND, 'HEALTHY'],
    ['a head of 20 s', {}, 20 * SECOND, SECOND, 'HEALTHY'],
    ['a head older than 20 s', {}, 20 * SECOND + 1, SECOND, 'DEGRADED', 'HEAD_OLD'],
    ['a chain without blocks', { isStallAgreed: true }, 20 * SECOND, SECOND, 'HEALTHY'],
    [
      'a chain without blocks for longer',
      { isStallAgreed: true },
      20 * SECOND + 1,
      SECOND,
      'DEGRADED',
      'HEAD_OLD',
      'CHAIN_STALLED',
    ],
    [
      'a chain without blocks for very long',
      { isStallAgreed: true },
      120 * SECOND + 1,
      SECOND,
      'UNAVAILABLE',
      'NO_VERIFIED_HEAD',
      'CHAIN_STALLED',
    ],
    ['a head of 8 slow blocks', {}, 96 * SECOND, 12 * SECOND, 'HEALTHY'],
    ['a head older than 8 slow blocks', {}, 96 * SECOND + 1, 12 * SECOND, 'DEGRADED', 'HEAD_OLD'],
    ['a head of 120 s', {}, 120 * SECOND, SECOND, 'DEGRADED', 'HEAD_OLD'],
    ['no head for 120 s', {}, 120 * SECOND + 1, SECOND, 'UNAVAILABLE', 'NO_VERIFIED_HEAD'],
    ['no head for 40 slow blocks', {}, 480 * SECOND + 1, 12 * SECOND, 'UNAVAILABLE', 'NO_VERIFIED_HEAD'],
    ['no head yet', { head: null, processedBlocks: 0 }, 0, SECOND, 'UNAVAILABLE', 'NO_VERIFIED_HEAD'],
    // Just seen, but a day old: a node that froze long ago.
    [
      'an old block seen now',
      { head: headAt(-24 * 60 * MINUTE) },
      0,
      SECOND,
      'UNAVAILABLE',
      'NO_VERIFIED_HEAD',
    ],
    ['halted', { isHalted: true }, 0, SECOND, 'UNAVAILABLE', 'HALTED'],
    ['no endpoint of this chain', { hasIdentity: false }, 0, SECOND, 'UNAVAILABLE', 'NO_ENDPOINT'],
    ['a block unprocessed for 15 s', pendingSince(0), 15 * SECOND, SECOND, 'HEALTHY'],
    ['a block unprocessed for longer', pendingSince(0), 15 * SECOND + 1, SECOND, 'GAP', 'BEHIND'],
    ['one unprocessed for 5 slow blocks', pendingSince(0), 60 * SECOND, 12 * SECOND, 'HEALTHY'],
    ['a head 15 s after the processed block', behind(15 * SECOND), 15 * SECOND, SECOND, 'HEALTHY'],
    ['a head later than that', behind(15 * SECOND + 1), 15 * SECOND + 1, SECOND, 'GAP', 'BEHIND'],
    ['a head 5 slow blocks on', behind(60 * SECOND), 60 * SECOND, 12 * SECOND, 'HEALTHY'],
    ['a head further on', behind(60 * SECOND + 1), 60 * SECOND, 12 * SECOND, 'GAP', 'BEHIND'],
    // Behind the wall clock and no block missing: old, and no gap.
    ['a head of 17 s ago, processed', {}, 17 * SECOND, SECOND, 'HEALTHY'],
    ['a head of 30 s ago, processed', {}, 30 * SECOND, SECOND, 'DEGRADED', 'HEAD_OLD'],
    ['a first block not yet processed', { processed: null, ...pendingSince(0) }, 0, SECOND, 'HEALTHY'],
    [
      'a first block never processed',
      { processed: null, ...pendingSince(0) },
      15 * SECOND + 1,
      SECOND,
      'GAP',
      'BEHIND',
    ],
    [
      'a head that one endpoint alone knows',
      { isUnconfirmed: true },
      0,
      SECOND,
      'DEGRADED',
      'HEAD_UNCONFIRMED',
    ],
    ['finality by depth', { isFinalByFallback: true }, 0, SECOND, 'HEALTHY', 'FINALITY_BY_DEPTH'],
    [
      'finality by depth together with a worse condition',
      { isFinalByFallback: true, proof: 'none' },
      0,
      SECOND,
      'DEGRADED',
      'NO_PROOF',
      'FINALITY_BY_DEPTH',
    ],
    ['a block refused for 15 s', { refusedSinceMs: 5000 }, 15 * SECOND, SECOND, 'HEALTHY'],
    ['a block refused for longer', { refusedSinceMs: 5000 }, 15 * SECOND + 1, SECOND, 'GAP', 'BLOCK_REFUSED'],
    ['no proof', { proof: 'none' }, 0, SECOND, 'DEGRADED', 'NO_PROOF'],
    ['the digests of two endpoints', { proof: 'digest' }, 0, SECOND, 'HEALTHY'],
    ['finality still for 30 min', { head: headAt(30 * MINUTE) }, 30 * MINUTE, SECOND, 'HEALTHY'],
    [
      'finality still for longer',
      { head: headAt(30 * MINUTE) },
      30 * MINUTE + 1,
      SECOND,
      'DEGRADED',
      'FINALITY_STALLED',
    ],
    ['a block 60 s ahead', { head: headAt(60 * SECOND) }, 0, SECOND, 'HEALTHY'],
    ['a block further ahead', { head: headAt(60 * SECOND + 1) }, 0, SECOND, 'DEGRADED', 'CLOCK'],
    [
      'several at once, worst first',
      { isHalted: true, proof: 'none' },
      21 * SECOND,
      SECOND,
      'UNAVAILABLE',
      'HALTED',
      'HEAD_OLD',
      'NO_PROOF',
    ],
  ]
  it.each(rows)('%s', (_what, seen, elapsedMs, blockTimeMs, ...expected) => {
    expect(assess(seen, elapsedMs, blockTimeMs)).toEqual(expected)
  })

  it('detects a wall clock that was set by more than 5 s, either way', () => {
    const healthy = nextHealth(startHealth(at(0)), GOOD, SECOND, at(0))
    for (const stepMs of [5001, -5001])
      expect(nextHealth(healthy, GOOD, SECOND, at(1, stepMs)).reasons).toEqual(['CLOCK'])
    expect(nextHealth(healthy, GOOD, SECOND, at(1, 5000)).reasons).toEqual([])
  })
})

/** Feeds observations, one a row, and gives the status after each. */
const run = (rows: readonly (readonly [elapsedMs: number, seen: Partial<Observation>])[]): string[] => {
  let health: Health = startHealth(at(0))
  return rows.map(([elapsedMs, seen]) => {
    const head = headAt(elapsedMs)
    health = nextHealth(health, observed({ head, ...seen }), SECOND, at(elapsedMs))
    return [health.status, ...health.reasons].join(' ')
  })
}

const still = (elapsedMs: number) => [elapsedMs, { head: headAt(0) }] as const

/** What each status is seen by. */
const SEEN: Readonly<Record<HealthStatus, Partial<Observation>>> = {
  HEALTHY: {},
  DEGRADED: { proof: 'none' },
  GAP: { refusedSinceMs: 5000 - 16 * SECOND },
  UNAVAILABLE: { isHalted: true },
}
const STATUSES = ['HEALTHY', 'DEGRADED', 'GAP', 'UNAVAILABLE'] as const

describe('every transition of the state machine', () => {
  const pairs = STATUSES.flatMap((from, at) => STATUSES.map((to, other) => [from, to, other >= at] as const))
  it.each(pairs)('%s → %s', (from, to, isAtOnce) => {
    const [first, ...later] = run([
      [0, SEEN[from]],
      [1, { ...SEEN[to], processedBlocks: 1 }],
      // Blocks without time, and time without blocks, are not enough to get better.
      [2, { ...SEEN[to], processedBlocks: 9 }],
      [3, { ...SEEN[from], processedBlocks: 9 }],
      [3 + 5 * SECOND, { ...SEEN[to], processedBlocks: 11 }],
      [4 + 5 * SECOND, { ...SEEN[to], processedBlocks: 12 }],
    ]).map(line => line.split(' ')[0])
    expect(first).toBe(from)
    const worse = isAtOnce ? to : from
    expect(later).toEqual([worse, worse, worse, worse, to])
  })
})

describe('R-health-2: a change of status', () => {
  it('is UNAVAILABLE before the first verified head and the actual status from then on', () => {
    expect(
      run([
        [0, { head: null }],
        [1, { head: null }],
        [2, {}],
      ]),
    ).toEqual(['UNAVAILABLE NO_VERIFIED_HEAD', 'UNAVAILABLE NO_VERIFIED_HEAD', 'HEALTHY'])
  })

  it('gets worse at once', () => {
    expect(
      run([
        [0, {}],
        [1, { proof: 'none' }],
        [2, { proof: 'none', refusedSinceMs: -60 * SECOND }],
        [3, { proof: 'none', refusedSinceMs: -60 * SECOND, isHalted: true }],
      ]),
    ).toEqual([
      'HEALTHY',
      'DEGRADED NO_PROOF',
      'GAP BLOCK_REFUSED NO_PROOF',
      'UNAVAILABLE HALTED BLOCK_REFUSED NO_PROOF',
    ])
  })

  it('gets better after three verified blocks and five seconds, and not with one of them', () => {
    const bad = { proof: 'none' } as const
    expect(
      run([
        [0, { ...bad, processedBlocks: 10 }],
        [6 * SECOND, { processedBlocks: 12 }],
        [7 * SECOND, { processedBlocks: 13 }],
      ]),
    ).toEqual(['DEGRADED NO_PROOF', 'DEGRADED NO_PROOF', 'HEALTHY'])
    expect(
      run([
        [0, { ...bad, processedBlocks: 10 }],
        [4999, { processedBlocks: 20 }],
        [5000, { processedBlocks: 20 }],
      ]),
    ).toEqual(['DEGRADED NO_PROOF', 'DEGRADED NO_PROOF', 'HEALTHY'])
  })

  it('restarts its count after a relapse', () => {
    const bad = { proof: 'none' } as const
    expect(
      run([
        [0, { ...bad, processedBlocks: 10 }],
        [4 * SECOND, { processedBlocks: 12 }],
        [4500, { ...bad, processedBlocks: 13 }],
        [6 * SECOND, { processedBlocks: 16 }],
        [9500, { processedBlocks: 16 }],
      ]),
    ).toEqual(['DEGRADED NO_PROOF', 'DEGRADED NO_PROOF', 'DEGRADED NO_PROOF', 'DEGRADED NO_PROOF', 'HEALTHY'])
  })

  it('keeps its reasons while it waits, and takes new ones of the same weight at once', () => {
    expect(
      run([
        [0, { refusedSinceMs: -60 * SECOND }],
        [1, { proof: 'none' }],
        [2, { refusedSinceMs: -60 * SECOND, proof: 'none' }],
      ]),
    ).toEqual(['GAP BLOCK_REFUSED', 'GAP BLOCK_REFUSED', 'GAP BLOCK_REFUSED NO_PROOF'])
  })

  it('follows the rules on a chain that makes no blocks for long, and comes back with three', () => {
    expect(
      run([
        still(0),
        still(20_001),
        still(120_001),
        [150_000, { processedBlocks: 2 }],
        [151_000, { processedBlocks: 3 }],
        [156_000, { processedBlocks: 4 }],
      ]),
    ).toEqual([
      'HEALTHY',
      'DEGRADED HEAD_OLD',
      'UNAVAILABLE NO_VERIFIED_HEAD',
      'UNAVAILABLE NO_VERIFIED_HEAD',
      'UNAVAILABLE NO_VERIFIED_HEAD',
      'HEALTHY',
    ])
  })

  it('counts a clock step as over after recovery', () => {
    const healthy = nextHealth(startHealth(at(0)), GOOD, SECOND, at(0))
    const stepped = nextHealth(healthy, GOOD, SECOND, at(1, 6000))
    const later = observed({ head: headAt(6 * SECOND), processedBlocks: 4 })
    expect(nextHealth(stepped, later, SECOND, at(6 * SECOND, 6000)).status).toBe('HEALTHY')
  })
})

describe('toRecord', () => {
  it('names head, consumer and finality, and their distances', () => {
    const seen = {
      ...GOOD,
      head: { ...block(12, 3000), seenAtMs: 0 },
      processed: block(10, 1000),
      final: block(7, 0),
    }
    const health = nextHealth(startHealth(at(0)), seen, SECOND, at(3000))
    expect(toRecord(health, seen, 31_337, [], WALL_MS + 3000)).toEqual({
      chain_id: 31_337,
      status: 'HEALTHY',
      reasons: [],
      head: { block_number: 12, block_hash: seen.head.hash, block_time_ms: WALL_MS + 3000 },
      processed: { block_number: 10, block_hash: seen.processed.hash, block_time_ms: WALL_MS + 1000 },
      finalized: { block_number: 7, block_hash: seen.final.hash },
      lag_blocks: 2,
      lag_ms: 2000,
      endpoints: [],
      updated_at_ms: WALL_MS + 3000,
    })
  })

  it('has no lag before anything is processed', () => {
    const seen = { ...GOOD, processed: null }
    expect(toRecord(startHealth(at(0)), seen, 1, [], 0)).toMatchObject({
      processed: null,
      lag_blocks: null,
      lag_ms: null,
    })
  })
})
