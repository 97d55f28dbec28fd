/**
 * The pool snapshot of a chain, page by page. Pages are of different moments, each with its own
 * `snapshot_sequence`; replay from the least of them loses nothing.
 *
 * A page that fails is asked for again by itself: a snapshot longer than the rate limit's burst would never
 * end if it began anew.
 */
import { MAX_PAGE_LIMIT } from '../wire/page.ts'
import type { PoolPage, PoolsQuery } from '../wire/pool.ts'
import { type Backoff, retrying } from './backoff.ts'
import { AssayError } from './failure.ts'
import type { CallOptions } from './http.ts'

/** Ten million pools: a service that pages further than this is going round in circles. */
const MAX_PAGES = 10_000

export type PoolSource = { fetchPools(query: PoolsQuery, options: CallOptions): Promise<PoolPage> }

export async function readSnapshot(
  source: PoolSource,
  chainId: number,
  backoff: Backoff,
  signal: AbortSignal,
): Promise<PoolPage[]> {
  const pages: PoolPage[] = []
  let query: PoolsQuery = { chain_id: chainId, limit: MAX_PAGE_LIMIT }
  while (pages.length < MAX_PAGES) {
    const page = await retrying(() => source.fetchPools(query, { signal }), backoff, signal)
    pages.push(page)
    if (page.next_cursor === null) return pages
    query = { ...query, cursor: page.next_cursor }
  }
  throw new AssayError({ code: 'UNEXPECTED_ANSWER', message: `a snapshot of more than ${MAX_PAGES} pages` })
}
