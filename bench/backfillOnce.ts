/**
 * One back-fill of a chain's past into a separate database. Forked with a configuration and the path of the database,
 * it starts immediately and sends its result.
 */
import { openEndpoints } from '../packages/server/feed/endpoints/openEndpoints.ts'
import { systemClock } from '../packages/server/ops/clock.ts'
import type { ChainConfig } from '../packages/server/config/config.ts'
import { loadConfig } from '../packages/server/config/loadConfig.ts'
import { claimDatabase } from '../packages/server/store/sqlite/claim.ts'
import { openSqliteStore } from '../packages/server/store/sqlite/sqliteStore.ts'
import { runBackfill } from '../packages/server/worker/backfill/backfill.ts'

type Progress = NonNullable<Parameters<typeof runBackfill>[0]['onProgress']>

export type Outcome = {
  readonly events: number
  /** From the first request to the last event stored. */
  readonly scanS: number
  /** Including the opening and closing of the database. */
  readonly wholeS: number
}

export async function backfillOnce(
  configPath: string,
  path: string,
  onProgress: Progress = () => undefined,
): Promise<Outcome> {
  const [chain] = loadConfig(configPath, {}).chains as [ChainConfig]
  const startedMs = performance.now()
  const release = claimDatabase(path)
  const store = await openSqliteStore({ path })
  const { endpoints, close } = openEndpoints(chain, systemClock)
  const { signal } = new AbortController()
  const openedMs = performance.now()
  const { events } = await runBackfill({ chain, endpoints, store, clock: systemClock, signal, onProgress })
  const scanS = (performance.now() - openedMs) / 1000
  close()
  await store.close()
  release()
  return { events, scanS, wholeS: (performance.now() - startedMs) / 1000 }
}

if (import.meta.main) {
  const [configPath, path] = process.argv.slice(2) as [string, string]
  const outcome = await backfillOnce(configPath, path)
  process.send?.(outcome)
}
