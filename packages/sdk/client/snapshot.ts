/**
 * The pool snapshot of a chain, page by page. Pages are from different moments, each with its own
 * `snapshot_sequence`; a replay from the least of them loses nothing.
 *
 * A failed page is retried alone: a snapshot larger than the rate limit's burst would never finish if it restarted.
 */
import type { Address } from '../wire/identifier.ts'
import { MAX_PAGE_LIMIT } from '../wire/page.ts'
import type { PoolPage, PoolsQuery } from '../wire/pool.ts'
import { type Backoff, retrying } from './backoff.ts'
import { AssayError } from './failure.ts'
import type { CallOptions } from './http.ts'

/** Ten million pools. A service that returns more pages than this is repeating itself. */
const MAX_PAGES = 10_000

export type PoolSource = { fetchPools(query: PoolsQuery, options: CallOptions): Promise<PoolPage> }

/** Pages of these tokens' pools, or of all pools if null. */
export async function readSnapshot(
  source: PoolSource,
  chainId: number,
  tokens: readonly Address[] | null,
  backoff: Backoff,
  signal: AbortSignal,
): Promise<PoolPage[]> {
  if (tokens === null) return readPages(source, { chain_id: chainId }, backoff, signal)
  const pages: PoolPage[] = []
  for (const token_address of tokens)
    pages.push(...(await readPages(source, { chain_id: chainId, token_address }, backoff, signal)))
  return pages
}

async function readPages(
  source: PoolSource,
  of: PoolsQuery,
  backoff: Backoff,
  signal: AbortSignal,
): Promise<PoolPage[]> {
  const pages: PoolPage[] = []
  let query: PoolsQuery = { ...of, limit: MAX_PAGE_LIMIT }
  while (pages.length < MAX_PAGES) {
    const page = await retrying(() => source.fetchPools(query, { signal }), backoff, signal)
    pages.push(page)
    if (page.next_cursor === null) return pages
    query = { ...query, cursor: page.next_cursor }
  }
  throw new AssayError({ code: 'UNEXPECTED_ANSWER', message: `a snapshot of more than ${MAX_PAGES} pages` })
}
