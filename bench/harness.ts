/**
 * Measures one row: ours and the peer alternate, so that other load on the machine affects both, and the median of
 * several rounds counts, so that outliers do not.
 */
import type { Benchmark, Contender, Limit } from './benchmark.ts'

type Verdict = 'met' | 'missed' | 'absent' | 'failed'

export type Result = {
  readonly name: string
  readonly unit: string
  readonly verdict: Verdict
  /** Null when the row failed before the measurement. */
  readonly ours: Measured | null
  readonly peer: Measured | Limit | { readonly absent: string } | null
  readonly ratio: number | null
  /** Null when not even that is known. */
  readonly goal: Benchmark['goal'] | null
  readonly rounds: number
  readonly notes: readonly string[]
  /** The reason for the failure. */
  readonly error: string | null
}

/** `figure` when the row does not measure time. */
export type Measured = {
  readonly name: string
  readonly nsPerOperation: number
  readonly figure: number | null
}

type Progress = (stage: string) => void

/**
 * A round of a fast contender lasts about this long: several periods of a scheduler, so that a short burst meets the
 * same waits as a long call of the other side.
 */
const ROUND_MS = 250

const ROUNDS = 11

/** With fewer rounds a median is meaningless. */
const LEAST_ROUNDS = 3

/** No new round starts after this, once there are enough. */
const ROW_BUDGET_MS = 30_000

/** Calls of the quickest contender in one round. */
const MAX_CALLS = 1 << 24

/** Keeps results alive, so that no compiler may omit the work. */
const sink: { last: unknown } = { last: null }

/** An error inside a benchmark is a failed row, never a failed run. */
export async function measure(benchmark: Benchmark, progress: Progress): Promise<Result> {
  const result = await prepareAndCompare(benchmark, progress)
  try {
    await benchmark.close?.()
    return result
  } catch (error) {
    // A row that was never opened cannot be closed: report the first failure.
    return result.verdict === 'failed' ? result : failed(benchmark, error)
  }
}

async function prepareAndCompare(benchmark: Benchmark, progress: Progress): Promise<Result> {
  try {
    progress('preparing')
    await benchmark.prepare?.()
    progress('checking')
    await benchmark.check?.()
    return await compare(benchmark, progress)
  } catch (error) {
    return failed(benchmark, error)
  }
}

function failed({ name, unit, goal }: Benchmark, error: unknown): Result {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return {
    name,
    unit,
    verdict: 'failed',
    ours: null,
    peer: null,
    ratio: null,
    goal,
    rounds: 0,
    notes: [],
    error: text,
  }
}

async function compare(benchmark: Benchmark, progress: Progress): Promise<Result> {
  const { ours, goal, rounds: mostRounds = ROUNDS } = benchmark
  const peer = benchmark.peer !== undefined && 'run' in benchmark.peer ? benchmark.peer : null
  progress('warming up')
  const ourSide = await sideOf(ours)
  const peerSide = peer === null ? null : await sideOf(peer)

  const startMs = performance.now()
  const leastRounds = Math.min(LEAST_ROUNDS, mostRounds)
  let rounds = 0
  while (rounds < mostRounds && (rounds < leastRounds || performance.now() - startMs < ROW_BUDGET_MS)) {
    progress(`round ${rounds + 1} of at most ${mostRounds}`)
    // The peer goes first in every other round, so that neither side always runs after the other.
    const order = rounds % 2 === 0 ? [ourSide, peerSide] : [peerSide, ourSide]
    for (const side of order) if (side !== null) await play(side)
    rounds++
  }

  const measured = measuredOf(ourSide)
  const ratio = ratioOf(benchmark, measured, ourSide, peerSide)
  const isMet = ratio === null || (goal.sense === 'at least' ? ratio >= goal.ratio : ratio <= goal.ratio)
  return {
    name: benchmark.name,
    unit: benchmark.unit,
    verdict: ratio === null ? 'absent' : isMet ? 'met' : 'missed',
    ours: measured,
    peer: peerSide === null ? standIn(benchmark) : measuredOf(peerSide),
    ratio,
    goal,
    rounds,
    notes: [...(benchmark.notes?.() ?? []), ...waiting(benchmark, ratio, ourSide, peerSide)],
    error: null,
  }
}

/** The placeholder when no peer was measured. */
function standIn({ limit, peer }: Benchmark): Result['peer'] {
  if (limit !== undefined) return limit
  return peer !== undefined && 'absent' in peer ? peer : null
}

type Side = {
  readonly contender: Contender
  readonly calls: number
  readonly nsPerOperation: number[]
  /** Processor time of the process; empty when the contender has a clock of its own. */
  readonly cpuNsPerOperation: number[]
  readonly figures: number[]
}

/** Warms up, and determines how many calls make a round, unless the contender sets it. */
async function sideOf(contender: Contender): Promise<Side> {
  const side = { contender, nsPerOperation: [], cpuNsPerOperation: [], figures: [] }
  if (contender.calls !== undefined) return { ...side, calls: contender.calls }
  for (let calls = 1; ; calls *= 2) {
    const startMs = performance.now()
    await call(contender, calls)
    const tookMs = performance.now() - startMs
    if (tookMs < ROUND_MS / 4 && calls < MAX_CALLS) continue
    return { ...side, calls: Math.max(1, Math.round((calls * ROUND_MS) / tookMs)) }
  }
}

async function play(side: Side): Promise<void> {
  globalThis.gc?.()
  const { contender, calls } = side
  const cpuBefore = process.cpuUsage()
  const ns = await call(contender, calls)
  const { user, system } = process.cpuUsage(cpuBefore)
  side.nsPerOperation.push(ns / (calls * contender.operations))
  if (contender.measuredNs === undefined)
    side.cpuNsPerOperation.push(((user + system) * 1_000) / (calls * contender.operations))
  if (contender.figure !== undefined) side.figures.push(contender.figure())
}

/** The nanoseconds of `calls` calls. */
async function call({ run, measuredNs }: Contender, calls: number): Promise<number> {
  let counted = 0
  const start = process.hrtime.bigint()
  for (let done = 0; done < calls; done++) {
    const result = run()
    // Awaiting a value that is not a promise would cost a fast contender more than its own work.
    sink.last = result instanceof Promise ? await result : result
    if (measuredNs !== undefined) counted += measuredNs()
  }
  return measuredNs === undefined ? Number(process.hrtime.bigint() - start) : counted
}

function measuredOf({ contender, nsPerOperation, figures }: Side): Measured {
  return {
    name: contender.name,
    nsPerOperation: median(nsPerOperation),
    figure: figures.length === 0 ? null : median(figures),
  }
}

function ratioOf(
  { goal, limit }: Benchmark,
  measured: Measured,
  ours: Side,
  peer: Side | null,
): number | null {
  if (limit !== undefined) return (measured.figure ?? 1e9 / measured.nsPerOperation) / limit.value
  return peer === null ? null : medianRatio(ours.nsPerOperation, peer.nsPerOperation, goal.sense)
}

/** The median of the rounds' own ratios: both sides of a round saw the same machine. */
function medianRatio(
  ours: readonly number[],
  peer: readonly number[],
  sense: Benchmark['goal']['sense'],
): number {
  const costs = ours.map((ns, round) => ns / (peer[round] as number))
  return median(sense === 'at most' ? costs : costs.map(cost => 1 / cost))
}

/**
 * Waiting counts as work: for a disk, and for cores used by other processes, where it counts more for the side that
 * makes more garbage. Processor time then gives a different picture, which the reader should know.
 */
function waiting({ goal }: Benchmark, ratio: number | null, ours: Side, peer: Side | null): string[] {
  if (ratio === null || peer === null) return []
  if (ours.cpuNsPerOperation.length === 0 || peer.cpuNsPerOperation.length === 0) return []
  const byCpu = medianRatio(ours.cpuNsPerOperation, peer.cpuNsPerOperation, goal.sense)
  if (byCpu < 1.2 * ratio && ratio < 1.2 * byCpu) return []
  return [
    `part of it was waiting, for a disk or a core: by processor time the ratio is ${byCpu.toPrecision(3)}×`,
  ]
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The least value that at least this share of the values do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}
