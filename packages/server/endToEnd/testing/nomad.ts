/**
 * A client of the stream that outlives every node: closed with a time to reconnect, cut off or moved, it resumes at another one, with a
 * cursor that yet another node gave it. Records are kept as received: nothing repeated or missing is corrected.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { createClient, Envelope, StreamOutcome } from '@assay/sdk'
import { cursorAfter, Heard } from './heard.ts'
import { CHAIN_ID } from './plan.ts'
import { until } from './until.ts'

const AGAIN_MS = 50
/** Longer than anyone listens. */
const LIFE_MS = 900_000

export type Route<Node> = {
  /** Of the version of the SDK it uses. */
  readonly create: typeof createClient
  readonly apiKey: string
  readonly nodes: () => readonly Node[]
  readonly urlOf: (node: Node) => string
  /** A node gave it no cursor: one on its way out may. */
  readonly onRefused?: (giver: Node, failure: unknown) => void
  readonly onEnded?: (server: Node, outcome: StreamOutcome) => void
}

export class Nomad<Node> {
  readonly records: Envelope[] = []
  /** Connections it has had. */
  connections = 0
  readonly #route: Route<Node>
  readonly #running: Promise<void>
  #isDone = false
  #isMoved = false

  constructor(route: Route<Node>) {
    this.#route = route
    this.#running = this.#roam()
  }

  get last(): number {
    return this.records.at(-1)?.stream_sequence ?? 0
  }

  /** To the next node, as if a balancer had cut it off. */
  move(): void {
    this.#isMoved = true
  }

  async close(): Promise<void> {
    this.#isDone = true
    await this.#running
  }

  async #roam(): Promise<void> {
    for (let at = 0; !this.#isDone; at++) {
      const nodes = this.#route.nodes()
      const pick = (place: number) => nodes[place % nodes.length]
      const [giver, server] = [pick(at), pick(at + 1)]
      if (giver !== undefined && server !== undefined) await this.#listen(giver, server)
      if (!this.#isDone) await pause(AGAIN_MS)
    }
  }

  async #listen(giver: Node, server: Node): Promise<void> {
    const { onRefused, onEnded } = this.#route
    const resumeCursor = await cursorAfter(this.#connect(giver), CHAIN_ID, this.last).catch(
      (failure: unknown) => {
        onRefused?.(giver, failure)
        return null
      },
    )
    if (resumeCursor === null) return
    this.#isMoved = false
    this.connections += 1
    const heard = new Heard(
      this.#connect(server),
      { filter: { chain_ids: [CHAIN_ID] }, resumeCursor },
      record => void this.records.push(record),
    )
    const isOver = () => this.#isDone || this.#isMoved || heard.outcome !== null
    await until('the connection is over', isOver, LIFE_MS)
    if (heard.outcome !== null) onEnded?.(server, heard.outcome)
    await heard.close()
  }

  #connect(node: Node): ReturnType<typeof createClient> {
    const { apiKey, create, urlOf } = this.#route
    return create({ baseUrl: urlOf(node), apiKey })
  }
}
