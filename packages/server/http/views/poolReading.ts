/**
 * Pools at the moment of reading. A record contains a pool's freshness when it was written; since then proven blocks
 * may have verified it again, time has passed, and the feed may have changed.
 */
import { count, feedScore, freshness, ms, verifiedAt } from '@assay/engine'
import type { FeedStatus } from '@assay/sdk/wire'
import type { PoolRow } from '../../store/port.ts'
import type { HttpContext } from '../plumbing/context.ts'

type Scored = { readonly score: number }

/** The fields of a stored state that depend on the time of reading. */
type StoredState = {
  readonly verified_at_ms: number
  readonly score: number
  readonly components: Readonly<Record<string, Scored>> & { readonly freshness: { readonly ttl_ms: number } }
  readonly caps: readonly { readonly cap: number }[]
  readonly reason: string | null
}

/** When a pool was last verified, and the state of its chain's feed. */
export type PoolMoment = {
  readonly nowMs: number
  readonly status: FeedStatus
  /** Null for a pool that the engine does not hold: then the record's own time counts. */
  readonly verifiedMs: number | null
}

export type PoolReading = {
  readonly at_ms: number
  readonly verified_at_ms: number
  readonly freshness: { readonly score: number; readonly age_ms: number; readonly ttl_ms: number }
  readonly feed: { readonly score: number; readonly status: FeedStatus }
  readonly score: number
  readonly reason: string | null
}

/** Rules that time and feed can break and restore without a record. */
const PASSING: ReadonlySet<string | null> = new Set(['FEED', 'EXPIRED'])

export function readingOfPool(stored: object, { nowMs, status, verifiedMs }: PoolMoment): PoolReading {
  const { verified_at_ms, components, caps, reason: said } = stored as StoredState
  const verified = verifiedMs ?? verified_at_ms
  const { score, ageMs, ttlMs } = freshness(ms(verified), ms(components.freshness.ttl_ms), ms(nowMs)).value
  const feed = { score: feedScore(status), status }
  const now = { ...components, freshness: { score }, feed }
  const reason = reasonNow(said, score, feed.score)
  const least = Math.min(...Object.values(now).map(each => each.score), ...caps.map(({ cap }) => cap))
  return {
    at_ms: nowMs,
    verified_at_ms: verified,
    freshness: { score, age_ms: ageMs, ttl_ms: ttlMs },
    feed,
    score: reason === null ? least : 0,
    reason,
  }
}

function reasonNow(said: string | null, fresh: number, feed: number): string | null {
  if (feed === 0) return 'FEED'
  if (fresh === 0) return 'EXPIRED'
  return PASSING.has(said) ? null : said
}

/** The state with the present values of these fields. */
export function presentAt(stored: object, moment: PoolMoment): object {
  const { at_ms: _, freshness: fresh, feed, ...now } = readingOfPool(stored, moment)
  const { components } = stored as StoredState
  return {
    ...stored,
    ...now,
    components: { ...components, freshness: fresh, feed },
    ...(feed.score === 0 ? { presented: true } : {}),
  }
}

/** For rows of any chains, in their order. */
export async function momentsOf(
  { store, feeds, clock }: Pick<HttpContext, 'store' | 'feeds' | 'clock'>,
  rows: readonly PoolRow[],
): Promise<readonly PoolMoment[]> {
  const byChain = Map.groupBy(rows, ({ chainId }) => chainId)
  const verified = new Map<string, number>()
  for (const [chainId, pools] of byChain) {
    const found = await store.readVerified(
      chainId,
      pools.map(({ poolAddress }) => poolAddress),
    )
    const runs = JSON.parse(found.proven ?? '[]') as Parameters<typeof verifiedAt>[0]
    for (const { poolAddress, verifiedMs, verifiedNumber } of found.pools)
      verified.set(
        `${chainId} ${poolAddress}`,
        verifiedAt(runs, { verifiedMs: ms(verifiedMs), verifiedNumber: count(verifiedNumber) }),
      )
  }
  const nowMs = clock.nowMs()
  return rows.map(({ chainId, poolAddress }) => ({
    nowMs,
    status: feeds.health(chainId, nowMs).status,
    verifiedMs: verified.get(`${chainId} ${poolAddress}`) ?? null,
  }))
}
