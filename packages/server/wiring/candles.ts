/** Builds the stored candles beside the commits, a step at a time. */
import type { Clock } from '../ops/clock.ts'
import type { Log } from '../ops/log.ts'
import { buildCandles, type BuildingStore } from '../store/candleBuild.ts'

/** Between two looks for prices that have settled. */
const LOOK_MS = 15_000

export type Building = {
  readonly store: BuildingStore
  readonly clock: Clock
  readonly log: Log
  /** Left out, they are always built here. */
  readonly isWanted?: () => boolean
  readonly lookMs?: number
}

export function keepCandles({ store, clock, log, isWanted, lookMs = LOOK_MS }: Building): {
  close(): Promise<void>
} {
  let isClosed = false
  let running: Promise<void> = Promise.resolve()
  const run = async (): Promise<void> => {
    try {
      while (!isClosed && isWanted?.() !== false && (await buildCandles(store, clock.nowMs())));
    } catch (failure) {
      if (!isClosed) log.warn('candles could not be built', { error: String(failure) })
    }
  }
  const looking = setInterval(() => {
    running = running.then(run)
  }, lookMs)
  looking.unref()
  return {
    async close() {
      isClosed = true
      clearInterval(looking)
      await running
    },
  }
}
