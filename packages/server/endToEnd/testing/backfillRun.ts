/** A back-fill of a test chain into a store of its own, and what it left there. */
import { expect } from 'vitest'
import type { ChainConfig } from '../../config/config.ts'
import { openEndpoints } from '../../feed/endpoints/openEndpoints.ts'
import { systemClock } from '../../ops/clock.ts'
import { Secret } from '../../ops/secret.ts'
import { claimDatabase } from '../../store/sqlite/claim.ts'
import { openSqliteStore } from '../../store/sqlite/sqliteStore.ts'
import { type BackfillProgress, runBackfill } from '../../worker/backfill/backfill.ts'
import { CHAIN_ID } from './plan.ts'

export type Opened = Awaited<ReturnType<typeof openBackfillStore>>

export async function openBackfillStore(path: string) {
  const release = claimDatabase(path)
  const store = await openSqliteStore({ path })
  return {
    store,
    close: async () => {
      await store.close()
      release()
    },
  }
}

/** The same chain at other endpoints. */
export const servedBy = (config: ChainConfig, ...urls: readonly string[]): ChainConfig => ({
  ...config,
  endpoints: urls.map((url, n) => ({ name: `node-${n + 1}`, url: new Secret(url) })),
})

export async function backfillInto(
  { store }: Opened,
  chain: ChainConfig,
  onProgress: (progress: BackfillProgress) => void = () => undefined,
  signal = new AbortController().signal,
): Promise<BackfillProgress> {
  const { endpoints, close } = openEndpoints(chain, systemClock)
  try {
    return await runBackfill({ chain, endpoints, store, clock: systemClock, signal, onProgress })
  } finally {
    close()
  }
}

/** Block hash and index of every stored event of these pools, sorted. */
export async function storedEvents({ store }: Opened, pools: readonly string[]): Promise<string[]> {
  const events: string[] = []
  for (const address of pools)
    for (let before: { blockNumber: number; logIndex: number; blockHash: string } | null = null; ; ) {
      const page: Awaited<ReturnType<typeof store.readEvents>> = await store.readEvents({
        chainId: CHAIN_ID,
        poolAddress: address.toLowerCase(),
        kind: null,
        fromBlock: null,
        toBlock: null,
        before,
        limit: 1000,
      })
      for (const event of page) {
        expect(event.finality).toBe('finalized')
        events.push(`${event.blockHash}/${event.logIndex}`)
      }
      before = page.at(-1) ?? null
      if (before === null) break
    }
  return events.sort()
}
