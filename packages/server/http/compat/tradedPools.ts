/**
 * Volumes of pools, valued at our own price of a token at each swap's block. A period in which one of the pools was not
 * followed, or in which a swap has no value, has no volume: it is unknown rather than small.
 */
import { exact } from '@assay/sdk'
import type { PoolRow } from '../../store/port.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { type Point, pointsOf } from './pastPrices.ts'
import type { Token } from './prices.ts'

type Needs = Pick<HttpContext, 'clock' | 'config' | 'settings' | 'store'>

/** Limit per token or answer: more swaps are too much work for one request. */
const MOST_SWAPS = 20_000
const MOST_POINTS = 50_000
export const MOST_POOLS = 200
const PAGE = 1000
const HOUR_MS = 3_600_000
/** A gap is longer than this, so a pool followed before a gap was followed for at least this long before its end. */
const LONG_STOP_MS = 35 * 60_000

export type Traded = {
  /** From this time on every pool was followed, and none of its events has been deleted. */
  readonly sinceMs: number
  /** Oldest first; null when the token had no price at that block. */
  readonly swaps: readonly { readonly atMs: number; readonly usd: exact.Exact | null }[]
}

/** The pools of a token; null when there are too many to add up. */
export async function poolsOf(
  { store }: Pick<HttpContext, 'store'>,
  { chainId, tokenAddress }: Token,
): Promise<readonly PoolRow[] | null> {
  const { pools } = await store.readPools({ chainId, tokenAddress, after: null, limit: MOST_POOLS + 1 })
  return pools.length > MOST_POOLS ? null : pools
}

/** The swaps of the token in these pools since `fromMs`; a reason when they are not completely known. */
export async function tradedIn(
  context: Needs,
  token: Token,
  pools: readonly PoolRow[],
  fromMs: number,
): Promise<Traded | string> {
  const [row] = await context.store.readTokensOf([token])
  const decimals = row?.decimals ?? null
  if (decimals === null) return 'DECIMALS'
  if (pools.length === 0) return 'NO_POOL'
  const sinceMs = await followedSince(context, token.chainId, pools, fromMs)
  if (sinceMs === null) return 'NOT_FOLLOWED'
  const swaps: Swap[] = []
  for (const pool of pools) {
    if (!(await collect(context, pool, token.tokenAddress, Math.max(fromMs, sinceMs), swaps)))
      return 'TOO_MANY_SWAPS'
  }
  swaps.sort((a, b) => a.block - b.block || a.logIndex - b.logIndex)
  const values = await valuesAt(context, token, swaps)
  if (values === null) return 'TOO_MANY_RECORDS'
  return {
    sinceMs,
    swaps: swaps.map(({ atMs, amount }, at) => {
      const value = values[at] ?? null
      return { atMs, usd: value === null ? null : exact.multiply(value, amount, decimals) }
    }),
  }
}

/** The sum over `[fromMs, toMs)`; a reason when it is not completely known. */
export function volumeOf({ sinceMs, swaps }: Traded, fromMs: number, toMs: number): exact.Exact | string {
  if (sinceMs > fromMs) return 'NOT_FOLLOWED'
  const within = swaps.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map(({ usd }) => usd)
  const valued = within.filter(usd => usd !== null)
  return valued.length < within.length ? 'SWAP_WITHOUT_PRICE' : sumOf(valued)
}

export function sumOf(values: readonly exact.Exact[]): exact.Exact {
  // By denominator first: most values share a price, and their sum stays small.
  const byDen = new Map<bigint, bigint>()
  for (const { num, den } of values) byDen.set(den, (byDen.get(den) ?? 0n) + num)
  let sum = { num: 0n, den: 1n }
  for (const [den, num] of byDen) {
    sum = { num: sum.num * den + num * sum.den, den: sum.den * den }
    const divisor = gcd(sum.num, sum.den)
    sum = { num: sum.num / divisor, den: sum.den / divisor }
  }
  return sum
}

type Swap = {
  readonly block: number
  readonly logIndex: number
  readonly atMs: number
  readonly amount: bigint
}
type Body = Readonly<Record<string, string>> & { readonly block_time_ms: number }

/** Adds a pool's swaps; false once there are too many. */
async function collect(
  { store }: Pick<HttpContext, 'store'>,
  { chainId, poolAddress, token0 }: PoolRow,
  token: string,
  fromMs: number,
  swaps: Swap[],
): Promise<boolean> {
  const side = token0 === token ? '0' : '1'
  let before: Parameters<typeof store.readEvents>[0]['before'] = null
  for (;;) {
    const query = { chainId, poolAddress, kind: 'SWAP', fromBlock: null, toBlock: null, before, limit: PAGE }
    const page = await store.readEvents(query)
    for (const { blockNumber: block, logIndex, finality, body } of page) {
      const said = JSON.parse(body) as Body
      if (said.block_time_ms < fromMs) return true
      if (finality === 'orphaned') continue
      if (swaps.length >= MOST_SWAPS) return false
      swaps.push({ block, logIndex, atMs: said.block_time_ms, amount: amountOf(said, side) })
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return true
    before = { blockNumber: last.blockNumber, logIndex: last.logIndex, blockHash: last.blockHash }
  }
}

/**
 * The amount the pool received or paid on one side: v3 has one signed amount, v2 has both directions, which are netted.
 */
function amountOf(body: Body, side: '0' | '1'): bigint {
  const signed = body[`amount${side}`]
  const net =
    signed === undefined
      ? BigInt(body[`amount${side}_in`] ?? '0') - BigInt(body[`amount${side}_out`] ?? '0')
      : BigInt(signed)
  return net < 0n ? -net : net
}

/**
 * Null when a pool has no such time, or was not read again after the last gap. A pool whose creation was followed has
 * no trades before it.
 */
async function followedSince(
  { store, settings, clock }: Needs,
  chainId: number,
  pools: readonly PoolRow[],
  fromMs: number,
): Promise<number | null> {
  const { pools: known } = await store.readVerified(
    chainId,
    pools.map(({ poolAddress }) => poolAddress),
  )
  if (known.length < pools.length) return null
  const gapMs = (await store.readGaps(chainId)).at(-1)?.atMs ?? 0
  let sinceMs = Math.max(0, clock.nowMs() - settings.retention.hours * HOUR_MS)
  if (sinceMs < fromMs) sinceMs = 0
  for (const { followedSinceMs, createdMs } of known) {
    if (followedSinceMs === null || followedSinceMs < gapMs - LONG_STOP_MS) return null
    if (createdMs === null || createdMs < followedSinceMs) sinceMs = Math.max(sinceMs, followedSinceMs)
  }
  return sinceMs
}

/** The token's price at each swap's block: from its last record at or before it. Null for too many records. */
async function valuesAt(
  context: Needs,
  token: Token,
  swaps: readonly Swap[],
): Promise<readonly (exact.Exact | null)[] | null> {
  const [first, last] = [swaps[0], swaps.at(-1)]
  if (first === undefined || last === undefined) return []
  const before = await context.store.readTokenAt(token.chainId, token.tokenAddress, { block: first.block })
  if (before === null) return swaps.map(() => null)
  const points: Point[] = []
  for await (const point of pointsOf(context, token, before.atMs, context.clock.nowMs() + 1)) {
    if (points.length >= MOST_POINTS) return null
    if (point.blockNumber > last.block) break
    points.push(point)
  }
  let at = 0
  return swaps.map(({ block, atMs }) => {
    while ((points[at + 1]?.blockNumber ?? Number.POSITIVE_INFINITY) <= block) at += 1
    const point = points[at]
    if (point === undefined || point.blockNumber > block) return null
    return point.expiresAtMs !== null && point.expiresAtMs <= atMs ? null : point.value
  })
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b]
  while (y !== 0n) [x, y] = [y, x % y]
  return x === 0n ? 1n : x
}
