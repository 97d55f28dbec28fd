/**
 * A condition to wait for. A notification only means that the state may have changed, so a waiter checks the state
 * before and after. No notification is lost as long as the waiter awaits nothing between the check and `wait`.
 */
export class ConditionVariable {
  readonly #waiting = new Set<() => void>()

  notify(): void {
    for (const wake of this.#waiting) wake()
  }

  /** Resolves at the next notification, on abort or after `timeoutMs`, whichever comes first. Never rejects. */
  wait(signal: AbortSignal, timeoutMs: number): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise(resolve => {
      const wake = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', wake)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, timeoutMs)
      signal.addEventListener('abort', wake, { once: true })
      this.#waiting.add(wake)
    })
  }
}

/** Waits; an abort ends the wait early without an error. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new ConditionVariable().wait(signal, ms)
