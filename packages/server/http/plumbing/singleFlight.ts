/** Work that several ask for at once is done once; each waits for it as long as it likes. */
export class SingleFlight {
  readonly #running = new Map<string, Promise<unknown>>()

  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(key)
    if (running !== undefined) return running as Promise<Result>
    const started = work().finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    // Who gave up waiting does not hear of a failure; it must not be nobody's.
    started.catch(() => undefined)
    return started
  }
}
