/**
 * The data of a look-back window: where it begins, the logs of its pools by block, the time of each block, and the
 * state of pools before their first log where no log gives it. One request covers the logs of all pools.
 *
 * Node answers are not trusted here: folding them must give the state that was read at the window's end.
 */
import {
  type Address,
  type Before,
  type BlockRef,
  count,
  type Family,
  HISTORY_MS,
  ms,
  type NewPool,
  type PoolEvent,
  type Window,
} from '@assay/engine'
import type { LogEntry } from '../feed/answers/entry.ts'
import { FeedError } from '../feed/feedError.ts'
import type { PastLogs, PastReading } from '../feed/history/past.ts'
import { digestOf } from '../feed/history/pastReader.ts'
import type { ChainConfig } from '../config/config.ts'
import { keccak256 } from '../ops/keccak.ts'
import { decodeBlock } from './decode.ts'
import { HELD_TOPICS, isHeldByOne, OWN_TOPICS } from './families.ts'
import type { Market, TickSpan } from './market.ts'

/** Headers read to find the start of the window: the chain's real pace may differ from the configured one. */
const TRIES = 8
/** Share of the window's length: a longer past is not needed. */
const LONG_ENOUGH = 1.05
/** Ranges before the window that are searched for a pool's last event. */
const OLDER_RANGES = 4

export async function readWindow(
  reading: PastReading,
  chain: ChainConfig,
  pools: readonly NewPool[],
  end: BlockRef,
): Promise<Window> {
  const start = await startOf(reading, chain, end)
  const factories = chain.deployments.filter(({ family }) => !isHeldByOne(family))
  const { logs, isProven } =
    start.number === end.number
      ? { logs: [], isProven: true }
      : await logsOf(reading, chain, pools, {
          from: start.number + 1,
          to: end.number,
          others: factories.map(({ factoryAddress }) => factoryAddress),
        })
  const decoded = eventsOf(chain, pools, logs, end)
  const { times, timeOf } = await timesOf(reading, decoded, start, end)
  return {
    start,
    end,
    blocks: decoded.map(({ number, hash, events }) => ({
      number: count(number),
      hash,
      timeMs: ms(timeOf(number)),
      events,
    })),
    isProven,
    times,
    logs: {
      fromBlock: count(start.number + 1),
      toBlock: end.number,
      count: count(logs.length),
      digest: `0x${keccak256(Buffer.from(digestOf(logs))).toString('hex')}`,
    },
  }
}

/** Logs of the pools and of other contracts; of a contract that holds many pools, only logs of ours. */
async function logsOf(
  reading: PastReading,
  chain: ChainConfig,
  pools: readonly NewPool[],
  { from, to, others }: { readonly from: number; readonly to: number; readonly others: readonly Address[] },
): Promise<PastLogs> {
  const held = pools.filter(({ fee }) => isHeldByOne(fee.family))
  const own = pools.filter(({ fee }) => !isHeldByOne(fee.family))
  const addresses = [...own.map(({ address }) => address), ...others]
  const parts: PastLogs[] = []
  if (addresses.length > 0) parts.push(await reading.logs({ from, to, topics: OWN_TOPICS, addresses }))
  const holders = chain.deployments.filter(({ deploymentId }) =>
    held.some(pool => pool.deploymentId === deploymentId),
  )
  if (holders.length > 0)
    parts.push(
      await reading.logs({
        from,
        to,
        topics: HELD_TOPICS,
        seconds: held.map(({ address }) => address),
        addresses: holders.map(({ factoryAddress }) => factoryAddress),
      }),
    )
  const logs = parts.flatMap(part => part.logs)
  return {
    logs: logs.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex),
    isProven: parts.every(part => part.isProven),
  }
}

/** The price ranges of concentrated pools: before these blocks where that is known, and after each event with a price. */
export function spansOf(
  blocks: readonly { readonly events: readonly PoolEvent[] }[],
  before: ReadonlyMap<Address, Before> = new Map(),
): ReadonlyMap<Address, TickSpan> {
  const spans = new Map<Address, { lowest: number; highest: number }>()
  const visit = (pool: Address, tick: number): void => {
    const span = spans.get(pool)
    if (span === undefined) spans.set(pool, { lowest: tick, highest: tick })
    else {
      span.lowest = Math.min(span.lowest, tick)
      span.highest = Math.max(span.highest, tick)
    }
  }
  for (const [pool, { read, older }] of before) {
    const last = read ?? older.findLast(({ event }) => 'tick' in event)?.event
    if (last !== undefined && 'tick' in last) visit(pool, last.tick)
  }
  for (const { pool, event } of blocks.flatMap(({ events }) => events))
    if ('tick' in event) visit(pool, event.tick)
  return spans
}

/** The state of these pools at the start: read there, or derived from an older event. */
export async function readBefore(
  reading: PastReading,
  chain: ChainConfig,
  market: Pick<Market, 'recheck'>,
  pools: readonly NewPool[],
  { start, end }: Window,
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, Before>> {
  const states = await Promise.all(
    pools.map(async ({ address, deploymentId, fee }) => {
      try {
        const [seen] = await market.recheck([{ address, deploymentId, family: fee.family }], start, signal)
        return seen?.state ?? null
      } catch {
        // The node no longer has that state, or the pool did not exist yet.
        signal.throwIfAborted()
        return null
      }
    }),
  )
  const before = new Map(
    pools.map(({ address }, at) => [address, { read: states[at] ?? null, older: [] as PoolEvent[] }]),
  )
  const isLost = ({ address }: NewPool): boolean => {
    const found = before.get(address)
    return found !== undefined && found.read === null && !found.older.some(isWhole)
  }
  let to = start.number as number
  let blocks = end.number - start.number
  for (let n = 0; n < OLDER_RANGES && to > 0 && pools.some(isLost); n++) {
    const lost = pools.filter(isLost)
    const from = Math.max(0, to - Math.min(blocks, reading.rangeSize) + 1)
    const { logs } = await logsOf(reading, chain, lost, { from, to, others: [] })
    const events = eventsOf(chain, lost, logs, null).flatMap(each => each.events)
    for (const { address } of lost)
      before.get(address)?.older.unshift(...events.filter(({ pool }) => pool === address))
    to = from - 1
    blocks *= 2
  }
  return before
}

const isWhole = ({ event: { kind } }: PoolEvent): boolean =>
  kind === 'SYNC' || kind === 'SWAP' || kind === 'INITIALIZE'

/** The last block before the window: at least that old, and not much older. */
async function startOf(reading: PastReading, { blockTimeMs }: ChainConfig, end: BlockRef): Promise<BlockRef> {
  const wantedMs = end.timeMs - HISTORY_MS
  let before: BlockRef | null = null
  let after = end
  let back = Math.ceil(HISTORY_MS / blockTimeMs)
  for (let n = 0; n < TRIES; n++) {
    const number: number =
      before === null ? Math.max(0, end.number - back) : between(before, after, wantedMs, n)
    const [header] = await reading.headers([number])
    if (header === undefined) break
    const found: BlockRef = { number: count(number), hash: header.hash, timeMs: ms(header.timeMs) }
    if (found.timeMs <= wantedMs || number === 0) before = found
    else after = found
    const passedMs = Math.max(1, end.timeMs - found.timeMs)
    back = Math.ceil((back * HISTORY_MS * LONG_ENOUGH) / passedMs) + 1
    if (before === null) continue
    if (after.number - before.number <= 1 || end.timeMs - before.timeMs <= LONG_ENOUGH * HISTORY_MS) break
  }
  if (before !== null) return before
  throw new FeedError('BLOCK_UNKNOWN', null, `no block of ${wantedMs} could be found`)
}

/** Interpolates by time and bisects every other step: some chains make blocks only when there are transactions. */
function between(before: BlockRef, after: BlockRef, wantedMs: number, n: number): number {
  const blocks = after.number - before.number
  const share = n % 2 === 0 ? 0.5 : (wantedMs - before.timeMs) / Math.max(1, after.timeMs - before.timeMs)
  return before.number + Math.min(blocks - 1, Math.max(1, Math.floor(blocks * share)))
}

type Decoded = Pick<BlockRef, 'hash'> & {
  readonly number: number
  readonly timeMs: number | null
  readonly events: readonly PoolEvent[]
}

function eventsOf(
  chain: ChainConfig,
  pools: readonly NewPool[],
  logs: readonly LogEntry[],
  end: BlockRef | null,
): readonly Decoded[] {
  const own = new Map<Address, Family>(pools.map(({ address, fee }) => [address, fee.family]))
  const pairs = new Set(pools.map(({ token0, token1 }) => `${token0}-${token1}`))
  const blocks = new Map<number, LogEntry[]>()
  for (const each of logs) {
    const { blockNumber: number, blockHash: hash } = each
    const block = blocks.get(number) ?? []
    const known = block[0]?.blockHash ?? (number === end?.number ? end.hash : hash)
    if (hash !== known)
      throw new FeedError('BLOCK_UNKNOWN', null, `logs of block ${number} are of ${hash} and of ${known}`)
    block.push(each)
    blocks.set(number, block)
  }
  return [...blocks].flatMap(([number, within]) => {
    const [first] = within as [LogEntry]
    const { blockHash: hash } = first
    const events = decodeBlock(
      chain.deployments,
      {
        number,
        hash,
        timeMs: 0,
        parentHash: '0x',
        proof: 'none',
        logs: within,
      },
      pool => own.get(pool) ?? null,
      (token0, token1) => pairs.has(`${token0}-${token1}`),
    ).filter(({ pool }) => own.has(pool))
    return events.length === 0
      ? []
      : [{ number, hash, timeMs: first.timeS === null ? null : first.timeS * 1000, events }]
  })
}

/** The time of each block: from its logs, from its header, or interpolated between two known ones. */
async function timesOf(
  reading: PastReading,
  blocks: readonly Decoded[],
  start: BlockRef,
  end: BlockRef,
): Promise<{ readonly times: Window['times']; readonly timeOf: (number: number) => number }> {
  const known = new Map<number, number>([
    [start.number, start.timeMs],
    [end.number, end.timeMs],
  ])
  for (const { number, timeMs } of blocks) if (timeMs !== null) known.set(number, timeMs)
  const unknown = blocks.filter(({ number }) => !known.has(number))
  const step = Math.max(1, Math.ceil(unknown.length / reading.mostHeaders))
  const asked = unknown.filter((_, at) => at % step === 0)
  for (const { number, hash, timeMs } of await reading.headers(asked.map(({ number }) => number))) {
    const logged = asked.find(each => each.number === number)
    if (logged?.hash !== hash)
      throw new FeedError(
        'BLOCK_UNKNOWN',
        null,
        `block ${number} is ${hash}; one of its logs carries ${logged?.hash}`,
      )
    known.set(number, timeMs)
  }
  const sorted = [...known].sort(([a], [b]) => a - b)
  const timeOf = (number: number): number => {
    const exact = known.get(number)
    if (exact !== undefined) return exact
    const after = sorted.findIndex(([at]) => at > number)
    const [a, aMs] = sorted[after - 1] as [number, number]
    const [b, bMs] = sorted[after] as [number, number]
    return aMs + Math.floor(((bMs - aMs) * (number - a)) / (b - a))
  }
  return { times: step === 1 ? 'EXACT' : 'INTERPOLATED', timeOf }
}
