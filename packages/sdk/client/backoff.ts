/** How long to wait before trying again: exponential, fully jittered, bounded, and ended by a signal. */
import { AssayError } from './failure.ts'

export type Backoff = {
  readonly baseMs: number
  readonly maxMs: number
  /** Consecutive failures before the last one is thrown. */
  readonly maxFailures: number
}

/** About an hour of outage. */
export const DEFAULT_BACKOFF: Backoff = { baseMs: 250, maxMs: 30_000, maxFailures: 240 }

/** Full jitter, so that clients dropped together do not reconnect together. `failures` counts from 1. */
export function delayMs({ baseMs, maxMs }: Backoff, failures: number, random = Math.random): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, 30))
  return Math.floor(random() * ceiling)
}

/** Rejects with the signal's reason as soon as it is aborted. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error)
      return
    }
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}

/** Calls until it succeeds, fails permanently, or has failed too often. Waits at least as long as the service asks. */
export async function retrying<Result>(
  attempt: () => Promise<Result>,
  backoff: Backoff,
  signal: AbortSignal,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof AssayError) || !error.retryable || failures >= backoff.maxFailures) throw error
      await wait(Math.max(error.retryAfterMs ?? 0, delayMs(backoff, failures)), signal)
    }
  }
}
