/**
 * Waits for the first price on every chain of a started service, and reports meanwhile which chains are missing and
 * why.
 */
import type { Chain } from '@assay/sdk'
import { createClient } from '@assay/sdk/client'
import { AssayError } from '@assay/sdk/failure'

/** Takes a few seconds with native nodes; emulated ones on a busy machine need minutes. */
const PATIENCE_MS = 300_000
/** The polling interval: each poll makes one request, plus one for each chain that may have a price by now. */
const LOOK_MS = 500

/** Null once every chain has a token with a price; after five minutes, a sentence about the chains without one. */
export async function untilPriced(
  baseUrl: string,
  apiKey: string,
  onAwaiting: (words: string) => void,
  patienceMs = PATIENCE_MS,
): Promise<string | null> {
  const client = createClient({ baseUrl, apiKey })
  const untilMs = performance.now() + patienceMs
  const priced = new Set<number>()
  const look = async (): Promise<string | null> => {
    const { chains } = await client.fetchChains()
    for (const { chain_id, health } of chains) {
      if (priced.has(chain_id) || !isFollowed(health)) continue
      const { tokens } = await client.fetchTokens({ chain_id, limit: 100 })
      if (tokens.some(({ role, state }) => role === 'TOKEN' && state === 'PRICED')) priced.add(chain_id)
    }
    const awaited = chains.filter(({ chain_id }) => !priced.has(chain_id))
    if (awaited.length === 0) return null
    return `${priced.size} of ${chains.length} chains have prices, waiting for ${awaited.map(condition).join(', ')}`
  }
  let words: string | null = 'the service does not answer'
  for (;;) {
    words = await look().catch((failure: unknown) => keptIfRetryable(failure, words))
    if (words === null) return null
    onAwaiting(words)
    if (performance.now() > untilMs)
      return `After ${patienceMs / 1000} s ${words}. Details: ${baseUrl}/v1/chains`
    await new Promise(resolve => setTimeout(resolve, LOOK_MS))
  }
}

/** While the feed is behind or away, all tokens are UNPRICED. */
const isFollowed = (health: Chain['health']): boolean =>
  health?.status === 'HEALTHY' || health?.status === 'DEGRADED'

/** As in `56 (GAP: BEHIND, 40 blocks to go)`. */
function condition({ chain_id, health }: Chain): string {
  if (health === null || isFollowed(health)) return `${chain_id} (reading its pools)`
  const { lag_blocks, reasons, status } = health
  if (reasons.includes('WORKER_SILENT')) return `${chain_id} (no report yet)`
  const toGo = lag_blocks === null || lag_blocks === 0 ? '' : `, ${lag_blocks} blocks to go`
  return `${chain_id} (${status}: ${reasons.join(', ')}${toGo})`
}

/** The key may have spent its quota elsewhere: keep the last result until the next poll. */
function keptIfRetryable(failure: unknown, words: string | null): string | null {
  if (failure instanceof AssayError && failure.retryable) return words
  throw failure
}
