/** One thing at a time: tasks run in the order they were given, and a failure reaches only who asked. */
export class Lane {
  #tail: Promise<unknown> = Promise.resolve()

  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#tail.then(task)
    this.#tail = result.catch(() => undefined)
    return result
  }

  /** Resolves when everything given so far is done. */
  async idle(): Promise<void> {
    await this.#tail
  }
}
