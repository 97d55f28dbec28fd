/**
 * The roster of one of several nodes: a consumer's streams are counted over all nodes, and every node can see the
 * position of this one's replays. A node that falls silent has no streams any more.
 */
import type { Clock } from '../ops/clock.ts'
import type { NodeStore } from '../store/cluster.ts'
import { Roster, type RosterOptions } from './roster.ts'

const GREET_MS = 1000
/** Registered streams that never opened are removed after this long; closed ones sooner. */
const COUNT_MS = 3000
const LEFT_MS = 100

export class SharedRoster extends Roster {
  readonly #nodes: NodeStore
  readonly #node: string
  readonly #timers: readonly NodeJS.Timeout[]
  #counting: NodeJS.Timeout | null = null

  private constructor(nodes: NodeStore, node: string, clock: Clock, options: RosterOptions) {
    super(clock, options)
    this.#nodes = nodes
    this.#node = node
    this.#timers = [
      setInterval(() => void nodes.greet(node, this.replayed()).catch(() => undefined), GREET_MS),
      setInterval(() => this.#count(), COUNT_MS),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  static async open(
    nodes: NodeStore,
    node: string,
    clock: Clock,
    options: RosterOptions = {},
  ): Promise<SharedRoster> {
    await nodes.greet(node, null)
    return new SharedRoster(nodes, node, clock, options)
  }

  override hasRoom(consumer: string, most: number): Promise<boolean> {
    return this.#nodes.openStream(this.#node, consumer, most)
  }

  override enter(consumer: string): () => void {
    const leave = super.enter(consumer)
    return () => {
      leave()
      this.#counting ??= setTimeout(() => this.#count(), LEFT_MS).unref()
    }
  }

  async close(): Promise<void> {
    if (this.#counting !== null) clearTimeout(this.#counting)
    for (const timer of this.#timers) clearInterval(timer)
    await this.#nodes.leave(this.#node).catch(() => undefined)
  }

  #count(): void {
    this.#counting = null
    this.#nodes.countStreams(this.#node, this.streams).catch(() => undefined)
  }
}
