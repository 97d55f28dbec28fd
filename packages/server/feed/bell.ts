/**
 * A condition to wait for. The waiter looks at the state itself, before and after: a ring only says that it
 * may have changed, so no ring is lost as long as nothing is awaited between looking and waiting.
 */
export class Bell {
  readonly #waiting = new Set<() => void>()

  ring(): void {
    for (const wake of this.#waiting) wake()
  }

  /** Done at the next ring, at the abort or after `timeoutMs`, whichever is first. Never rejects. */
  rung(signal: AbortSignal, timeoutMs: number): Promise<void> {
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

/** Waits; cut short by the abort, which is no error here. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> => new Bell().rung(signal, ms)
