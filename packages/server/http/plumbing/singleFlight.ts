/** Runs work that several callers need at once only once; each caller waits as long as it likes. */
export class SingleFlight {
  readonly #running = new Map<string, Promise<unknown>>()

  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(key)
    if (running !== undefined) return running as Promise<Result>
    const started = work().finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    // A caller that timed out no longer receives the error; it must not become an unhandled rejection.
    started.catch(() => undefined)
    return started
  }
}
