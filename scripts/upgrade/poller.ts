/**
 * Somebody who asks over HTTP without a pause, one node after the other, and takes a refused connection of a node that is
 * going away as a reason to ask the next. Every other failure is counted and told.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { ask } from '../../packages/server/service/testing/answer.ts'
import type { Member } from './fleet.ts'

/** What is asked, and what is wrong with what was answered, as a reader bound by the contract sees it. */
export type Path = { readonly path: string; readonly faultsOf: (answer: unknown) => readonly string[] }

export type PollerOptions = {
  readonly key: string
  readonly paths: readonly Path[]
  readonly nodes: () => readonly Member[]
  readonly everyMs: number
  /** While this holds, 503 and 504 with a time to come back are no failure: nobody is there to compute. */
  readonly mayBeRefused?: () => boolean
}

export class Poller {
  answered = 0
  refused = 0
  /** Connections that a node on its way out did not take. */
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
      // That an operator has paused the chain is an answer too.
      else if (status === 200 || (status === 422 && text.includes('"OPERATOR"'))) this.answered += 1
      else if ((status === 503 || status === 504) && (mayBeBefore || mayBeRefused?.() === true))
        this.refused += 1
      // What an old version does at its end cannot be changed any more.
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
