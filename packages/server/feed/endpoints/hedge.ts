/**
 * Hedged requests: another attempt may start before the first is answered. Some calls are never answered, and waiting
 * for their deadline costs ten seconds; the usual time of an answer is known, so the next attempt starts after a
 * silence of that order. The first successful answer wins and the other attempts are aborted. A failed attempt is
 * followed by the next one at once.
 */

import { noteArrival, silenceMs } from '../transport/arrival.ts'

export type Try<Result> = (signal: AbortSignal) => Promise<Result>

export type Hedge<Result> = {
  /** The next attempt, or null when none is left; `isRetry` after a failure, otherwise because the answer is late. */
  readonly next: (isRetry: boolean) => Try<Result> | null
  /** How long an answer may take before the next attempt starts; null to wait for it. */
  readonly waitMs: (tries: number) => number | null
  /** Handles a failed attempt; throws an error that ends the whole request. */
  readonly onFailure: (error: unknown) => void
  /** Called for an attempt that was still waiting when another one was answered. */
  readonly onOvertaken?: (attempt: Try<Result>) => void
  readonly signal: AbortSignal | null
}

type Outcome<Result> =
  | { readonly kind: 'answer'; readonly of: Try<Result>; readonly result: Result }
  | { readonly kind: 'failure'; readonly of: Try<Result>; readonly error: unknown }
  | { readonly kind: 'late' }

/** Null when every attempt failed. */
export async function hedged<Result>(hedge: Hedge<Result>): Promise<{ readonly result: Result } | null> {
  const { signal } = hedge
  const open = new Map<
    Try<Result>,
    { readonly abort: AbortController; readonly over: Promise<Outcome<Result>> }
  >()
  const onAbort = (): void => {
    for (const { abort } of open.values()) abort.abort(signal?.reason)
  }
  signal?.throwIfAborted()
  signal?.addEventListener('abort', onAbort, { once: true })
  let tries = 0
  const start = (isRetry: boolean): boolean => {
    const attempt = hedge.next(isRetry)
    if (attempt === null) return false
    const abort = new AbortController()
    tries += 1
    noteArrival(abort.signal)
    open.set(attempt, { abort, over: outcomeOf(attempt, abort.signal) })
    return true
  }
  try {
    let canHedge = start(false)
    while (open.size > 0) {
      const waitMs = canHedge ? hedge.waitMs(tries) : null
      const quietMs = Math.min(...[...open.values()].map(({ abort }) => silenceMs(abort.signal)))
      if (waitMs !== null && quietMs >= waitMs) {
        canHedge = start(false)
        continue
      }
      const outcome = await firstOf(
        [...open.values()].map(({ over }) => over),
        waitMs === null ? null : Math.min(waitMs, Math.ceil(waitMs - quietMs)),
      )
      if (outcome.kind !== 'late') {
        open.delete(outcome.of)
        if (outcome.kind === 'answer') return { result: outcome.result }
        hedge.onFailure(outcome.error)
        if (!start(true) && open.size === 0) return null
      }
    }
    return null
  } finally {
    signal?.removeEventListener('abort', onAbort)
    for (const [attempt, { abort }] of open) {
      if (signal?.aborted !== true) hedge.onOvertaken?.(attempt)
      abort.abort(new Error('another attempt was answered first'))
    }
  }
}

async function outcomeOf<Result>(attempt: Try<Result>, signal: AbortSignal): Promise<Outcome<Result>> {
  try {
    return { kind: 'answer', of: attempt, result: await attempt(signal) }
  } catch (error) {
    return { kind: 'failure', of: attempt, error }
  }
}

async function firstOf<Result>(
  outcomes: readonly Promise<Outcome<Result>>[],
  waitMs: number | null,
): Promise<Outcome<Result>> {
  if (waitMs === null) return Promise.race(outcomes)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Outcome<Result>>(resolve => {
    timer = setTimeout(() => resolve({ kind: 'late' }), waitMs)
  })
  try {
    return await Promise.race([...outcomes, late])
  } finally {
    clearTimeout(timer)
  }
}
