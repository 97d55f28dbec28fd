/**
 * Loaded into the service before its own code (`--import`): every thread that serves the API or a chain writes the
 * longest delay of its event loop, twice a second, as a line of JSON to the file that the environment names.
 */
import { appendFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread, workerData } from 'node:worker_threads'

export type Stall = {
  readonly atMs: number
  /** The chain that the thread follows; null for the API. */
  readonly chainId: number | null
  readonly longestMs: number
}

export const LOOP_FILE = 'ASSAY_LOOP_FILE'
export const EVERY_MS = 500
/** Only the excess over this counts as a delay. */
const RESOLUTION_MS = 2

const file = process.env[LOOP_FILE]
const chainId = (workerData as { readonly chain?: { readonly chainId: number } } | null)?.chain?.chainId
// A module that only imports the names has set no file.
if (file !== undefined && (isMainThread || chainId !== undefined)) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  setInterval(() => {
    const longestMs = Math.max(0, delay.max / 1e6 - RESOLUTION_MS)
    delay.reset()
    appendFileSync(
      file,
      `${JSON.stringify({ atMs: Date.now(), chainId: chainId ?? null, longestMs } satisfies Stall)}\n`,
    )
  }, EVERY_MS).unref()
}
