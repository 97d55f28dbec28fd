import { expect, test } from 'vitest'
import type { Grant, SpendingStore } from '../store/cluster.ts'
import { SharedLimit } from './sharedLimit.ts'

/** The shared bucket by the book, in memory; the one in the database is held to the same by its own test. */
class Bucket implements SpendingStore {
  readonly time: { ms: number }
  earnedMs = 0
  asked = 0

  constructor(time: { ms: number }) {
    this.time = time
  }

  async takeUnits(
    _consumer: string,
    need: number,
    want: number,
    { unitMs, burstMs }: { readonly unitMs: number; readonly burstMs: number },
  ): Promise<Grant> {
    this.asked += 1
    this.earnedMs = Math.max(this.earnedMs, this.time.ms)
    const rest = Math.floor((this.time.ms + burstMs - this.earnedMs) / unitMs + 1e-6)
    if (rest < need)
      return { granted: 0, rest, waitMs: this.earnedMs + need * unitMs - this.time.ms - burstMs }
    const granted = Math.min(rest, Math.max(need, want))
    this.earnedMs += granted * unitMs
    return { granted, rest: rest - granted, waitMs: this.earnedMs - this.time.ms }
  }

  async returnUnits(_consumer: string, ms: number): Promise<void> {
    this.earnedMs -= ms
  }
}

const QUOTA = { units: 600, windowMs: 60_000, burst: 60 }

function nodesOf(count: number) {
  const time = { ms: 1_000_000 }
  const bucket = new Bucket(time)
  const clock = { nowMs: () => time.ms, monotonicMs: () => time.ms }
  const nodes = Array.from({ length: count }, () => new SharedLimit(bucket, clock, QUOTA))
  return { time, bucket, nodes, close: () => Promise.all(nodes.map(node => node.close())) }
}

test('over five nodes and a minute a consumer gets its quota and burst, and at most five in a hundred beyond', async () => {
  const { time, nodes, close } = nodesOf(5)
  const startMs = time.ms
  let allowed = 0
  for (; time.ms - startMs < 60_000; time.ms += 7)
    for (const node of nodes) if ((await node.spend('c')).allowed) allowed += 1
  expect(allowed).toBeLessThanOrEqual((QUOTA.units + QUOTA.burst) * 1.05)
  expect(allowed).toBeGreaterThanOrEqual((QUOTA.units + QUOTA.burst) * 0.95)
  await close()
})

test('of a hundred simultaneous requests to one node those within the burst are admitted', async () => {
  const { nodes, close } = nodesOf(1)
  const node = nodes[0] as SharedLimit
  const verdicts = await Promise.all(Array.from({ length: 100 }, () => node.spend('c')))
  expect(verdicts.filter(verdict => verdict.allowed)).toHaveLength(QUOTA.burst)
  await close()
})

test('a refusal gives the time to wait, and the database is not asked again until then', async () => {
  const { time, bucket, nodes, close } = nodesOf(1)
  const node = nodes[0] as SharedLimit
  while ((await node.spend('c')).allowed);
  const { asked } = bucket
  const { waitMs } = await node.spend('c')
  expect(waitMs).toBeGreaterThan(0)
  expect(waitMs).toBeLessThanOrEqual(100)
  expect(bucket.asked).toBe(asked)
  time.ms += Math.ceil(waitMs)
  expect((await node.spend('c')).allowed).toBe(true)
  await close()
})

test('units a node took and did not spend are available to the others a second later', async () => {
  const { time, bucket, nodes, close } = nodesOf(2)
  const [first, second] = nodes as [SharedLimit, SharedLimit]
  const own = { units: 6000, windowMs: 60_000, burst: 60 }
  expect((await first.spend('c', 1, own)).allowed).toBe(true)
  // Ten ahead are now in the hands of the first node, and it does not use them.
  time.ms += 1001
  expect(first.take('c').allowed).toBe(false)
  await first.close()
  expect(bucket.earnedMs).toBeLessThanOrEqual(time.ms)
  expect((await second.spend('c', own.burst, own)).allowed).toBe(true)
  await close()
})

test('refunded units can be spent again here, and elsewhere if unused', async () => {
  const { nodes, close } = nodesOf(2)
  const [first, second] = nodes as [SharedLimit, SharedLimit]
  expect((await first.spend('c', QUOTA.burst)).allowed).toBe(true)
  first.giveBack('c', QUOTA.burst)
  expect((await first.spend('c', QUOTA.burst - 20)).allowed).toBe(true)
  await first.close()
  expect((await second.spend('c', 20)).allowed).toBe(true)
  expect((await second.spend('c', 1)).allowed).toBe(false)
  await close()
})
