/** Runs one task at a time, in the order of the requests: traders, feeds and incidents of a chain never act at once. */
export class Lane {
  #last: Promise<unknown> = Promise.resolve()

  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(task)
    this.#last = done.catch(() => undefined)
    return done
  }
}
