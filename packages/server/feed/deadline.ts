/** A caller's signal with a time limit of our own, told apart: an abort is the caller's will, a limit a fault. */
type Deadline = {
  readonly signal: AbortSignal
  /** True when the limit, and not the caller, ended it. */
  readonly isExpired: () => boolean
  /** Frees the timer and the listener; call it when the work is over, however it went. */
  readonly release: () => void
}

export function startDeadline(signal: AbortSignal, limitMs: number): Deadline {
  const controller = new AbortController()
  let isExpired = false
  const onAbort = (): void => controller.abort(signal.reason)
  const timer = setTimeout(() => {
    isExpired = true
    controller.abort(new Error('deadline'))
  }, limitMs)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  return {
    signal: controller.signal,
    isExpired: () => isExpired,
    release: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    },
  }
}

/** The task's outcome, unless the signal aborts first; the task itself goes on. */
export async function untilAborted<Result>(task: Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted()
  let onAbort: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([task, aborted])
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort)
  }
}
