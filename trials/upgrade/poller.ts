/**
 * A client that sends HTTP requests without a pause, one node after the other. When a node that is about to end
 * refuses a connection, it moves on to the next. Every other failure is counted and reported.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { ask } from '../../packages/server/endToEnd/testing/answer.ts'
import type { Member } from './fleet.ts'

/** A request, and the faults of its response for a reader bound by the contract. */
export type Path = { readonly path: string; readonly faultsOf: (answer: unknown) => readonly string[] }

export type PollerOptions = {
  readonly key: string
  readonly paths: readonly Path[]
  readonly nodes: () => readonly Member[]
  readonly everyMs: number
  /** While this is true, 503 and 504 with a retry time are no failures: no process is there to compute. */
  readonly mayBeRefused?: () => boolean
}

export class Poller {
  answered = 0
  refused = 0
  /** Connections that a node about to end did not accept. */
  movedOn = 0
  readonly failures: string[] = []
  readonly #options: PollerOptions
  readonly #running: Promise<void>
  #isDone = false

  constructor(options: PollerOptions) {
    this.#options = options
    this.#running = this.#poll()
  }

  async close(): Promise<void> {
    this.#isDone = true
    await this.#running
  }

  async #poll(): Promise<void> {
    const { nodes, paths, everyMs } = this.#options
    for (let at = 0; !this.#isDone; at++) {
      const all = nodes()
      const node = all[at % all.length]
      if (node !== undefined) await this.#ask(node, paths[at % paths.length] as Path)
      await pause(everyMs)
    }
  }

  async #ask(node: Member, { path, faultsOf }: Path): Promise<void> {
    const { key, mayBeRefused } = this.#options
    const mayBeBefore = mayBeRefused?.() === true
    try {
      const { status, text, body } = await ask(node.child.url + path, { key })
      const [fault] = status === 200 ? faultsOf(body) : []
      if (fault !== undefined)
        this.failures.push(`${node.name} answered ${path} against the contract: ${fault}`)
      // A chain paused by an operator is a valid response too.
      else if (status === 200 || (status === 422 && text.includes('"OPERATOR"'))) this.answered += 1
      else if ((status === 503 || status === 504) && (mayBeBefore || mayBeRefused?.() === true))
        this.refused += 1
      // The behaviour of an old version at its end can no longer be changed.
      else if (status === 503 && node.isLeaving && node.version === 'old') this.movedOn += 1
      else this.failures.push(`${node.name} answered ${path} with ${status}: ${text.slice(0, 300)}`)
    } catch (failure) {
      if (node.isLeaving) this.movedOn += 1
      else
        this.failures.push(
          `${node.name} did not answer ${path}: ${String((failure as Error).cause ?? failure)}`,
        )
    }
  }
}
