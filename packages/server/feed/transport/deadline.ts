/** Lets a caller stop waiting for a task. */

/** The task's outcome, unless the signal aborts first; the task itself continues. */
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
