/** The arithmetic under the tables of the load: costs that are known are found again, and what is lost is noticed. */
import { expect, it } from 'vitest'
import { frame } from '../../packages/server/endToEnd/testing/rawFrames.ts'
import { latencyOf } from './cases.ts'
import { FrameReader } from './frames.ts'
import { nodesFor } from './growth.ts'
import { coresOf, type Costs, type Demand, fitCosts } from './model.ts'
import { heardFaults } from './proof.ts'
import { sequenceIn } from './streamSocket.ts'
import { figure } from './tables.ts'
import { busyTicksIn, kibIn, ticksIn, waitingTicksIn } from './usage.ts'

const demand = (
  swap: number,
  price: number,
  quote: number,
  delivery: number,
  freshQuote = Math.min(quote, price),
): Demand => ({
  swap,
  price,
  quote,
  freshQuote,
  delivery,
})
const COSTS: Costs = { atRest: 0.05, swap: 80, price: 300, quote: 40, freshQuote: 250, delivery: 0.5 }
const DEMANDS = [
  demand(5, 9, 0, 14),
  demand(100, 130, 0, 230),
  demand(800, 240, 0, 1040),
  demand(50, 80, 9000, 130),
  demand(50, 90, 300, 140),
  demand(50, 80, 0, 65_000),
]

it('finds the costs behind the cases, and predicts another', () => {
  const found = fitCosts(DEMANDS.map(each => ({ demand: each, cores: coresOf(COSTS, each) })))
  for (const kind of ['atRest', 'swap', 'price', 'quote', 'freshQuote', 'delivery'] as const)
    expect(found[kind]).toBeCloseTo(COSTS[kind], 6)
  const mixed = demand(100, 140, 1000, 24_000)
  // 0.05 + 0.008 + 0.042 + 0.04 + 0.035 + 0.012
  expect(coresOf(found, mixed)).toBeCloseTo(0.187, 9)
})

it('has no negative cost, none of work that never arrived, and none that it cannot separate from another', () => {
  const falling = [0, 1000, 2000].map(swap => ({ demand: demand(swap, 0, 0, 0), cores: 0.5 - swap / 10_000 }))
  expect(fitCosts(falling)).toEqual({
    atRest: expect.closeTo(0.4, 9),
    swap: 0,
    price: 0,
    quote: 0,
    freshQuote: 0,
    delivery: 0,
  })
  const together = [0, 1000, 2000].map(each => ({
    demand: demand(each, 2 * each, 0, 0),
    cores: each / 10_000,
  }))
  expect(fitCosts(together)).toMatchObject({ swap: expect.closeTo(100, 6), price: 0 })
})

it('has nodes for requests beside following the log, a place for each socket, and none when following fills one', () => {
  // Following: (0.05 + 0.008 + 0.042) / 2 = 0.05 of a node. Serving: 1 + 0.035 + 0.012 cores of nodes with 0.65 left.
  expect(nodesFor(COSTS, demand(100, 140, 25_000, 24_000), 100)).toBe(2)
  expect(nodesFor(COSTS, demand(100, 140, 50_000, 24_000), 100)).toBe(4)
  expect(nodesFor(COSTS, demand(100, 140, 0, 0), 10_001)).toBe(6)
  expect(nodesFor(COSTS, demand(10_000, 4000, 0, 0), 1)).toBeNull()
})

it('reads processor time and memory as proc(5) has them', () => {
  const stat = '7 (a) b (c) S 1 7 7 0 -1 4194304 1 2 3 4 100 20 7 3 20 0 11 0 5 6'
  expect(ticksIn(stat, false)).toBe(120)
  expect(ticksIn(stat, true)).toBe(130)
  expect(kibIn('VmHWM:\t  900 kB\nVmRSS:\t  512 kB\nRssShmem:\t   12 kB\n', 'VmRSS')).toBe(512)
  expect(busyTicksIn('cpu  100 10 30 5000 200 1 2 0 0 0\ncpu0 1 1 1 1 1 1 1 0 0 0\n')).toBe(143)
  expect(waitingTicksIn('cpu  100 10 30 5000 200 1 2 0 0 0\n')).toBe(200)
})

it('notices a lost or duplicated record, whatever gaps the log has', () => {
  const log = [1, 2, 3, 7, 8]
  expect([...heardFaults(log, [{ first: 2, last: 8, records: 4 }])]).toEqual([])
  expect([...heardFaults(log, [{ first: 2, last: 8, records: 3 }])]).toEqual([
    'a subscriber got 3 of 4 records from 2 to 8',
  ])
  expect([...heardFaults(log, [{ first: 2, last: 8, records: 5 }])]).toHaveLength(1)
  expect([...heardFaults(log, [{ first: 2, last: 9, records: 4 }])]).toHaveLength(1)
  expect([...heardFaults(log, [{ first: 0, last: 0, records: 0 }])]).toHaveLength(1)
})

it('reads the sequence of every frame, however the bytes come in', () => {
  const envelopes = [9, 10, 1_099_511_627_777].map(
    (sequence, at) =>
      `{"stream_sequence":${sequence},"routing":{},"payload":"${'x'.repeat([3, 300, 70_000][at] as number)}"}`,
  )
  const bytes = Buffer.concat(envelopes.map(payload => frame({ payload, masked: false })))
  for (const size of [1, 7, 64, bytes.length]) {
    const sequences: (number | null)[] = []
    const reader = new FrameReader(36, ({ bytes: head }) => sequences.push(sequenceIn(head)))
    for (let at = 0; at < bytes.length; at += size) reader.take(bytes.subarray(at, at + size))
    expect(sequences).toEqual([9, 10, 1_099_511_627_777])
  }
  expect(sequenceIn(Buffer.from('{"type":"RESET_REQUIRED"}'))).toBeNull()
})

it('has percentiles of the samples and no value without any', () => {
  expect(latencyOf(Array.from({ length: 100 }, (_, at) => at + 1))).toEqual({
    p50Ms: 50,
    p90Ms: 90,
    p99Ms: 99,
    longestMs: 100,
  })
  expect(latencyOf([])).toBeNull()
  expect([figure(1234.5), figure(99.94), figure(0.012345), figure(undefined)]).toEqual([
    '1,235',
    '99.9',
    '0.0123',
    '–',
  ])
})
