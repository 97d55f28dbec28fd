/** Runs one task at a time, in the order submitted; a failure reaches only the caller of that task. */
export class Lane {
  #tail: Promise<unknown> = Promise.resolve()

  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#tail.then(task)
    this.#tail = result.catch(() => undefined)
    return result
  }

  /** Resolves when all tasks submitted so far are done. */
  async idle(): Promise<void> {
    await this.#tail
  }
}
