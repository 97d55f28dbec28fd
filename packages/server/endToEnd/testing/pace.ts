/**
 * Mines blocks at a steady pace, as a real chain does while a test waits. `between` runs a task between two blocks, so the
 * test knows which block its trade is in.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { TestChain } from './testChain.ts'

export class Pace {
  readonly #chain: TestChain
  readonly #everyMs: number
  readonly #over = new AbortController()
  readonly #running: Promise<void>
  #last: Promise<unknown> = Promise.resolve()

  constructor(chain: TestChain, everyMs: number) {
    this.#chain = chain
    this.#everyMs = everyMs
    this.#running = this.#run()
  }

  between<Result>(task: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(task)
    this.#last = done.catch(() => undefined)
    return done
  }

  async stop(): Promise<void> {
    this.#over.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#over
    while (!signal.aborted) {
      await this.between(() => this.#chain.mineNow())
      await wait(this.#everyMs, null, { signal }).catch(() => undefined)
    }
  }
}
