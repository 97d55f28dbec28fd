/**
 * A feed of a simulated chain, as the worker gets it: blocks in order, a reorganisation with its whole branch, finality
 * and health. It may stand still for a while, as one does whose endpoints are gone.
 */
import type {
  BlockRef,
  Feed,
  FeedItem,
  HealthStatus,
  Resume,
  VerifiedBlock,
} from '../../packages/server/feed/feed.ts'
import type { Hex } from '../../packages/engine/index.ts'
import type { Link, SimChain } from './chain.ts'
import type { Pace, Tempo } from './tempo.ts'
import type { VirtualTime } from './virtualTime.ts'
import type { World } from './world.ts'

/** Clients count a service as gone after a minute of silence. */
const HEALTH: Pace = { stormMs: 15_000, quietMs: 55_000 }
/** Finality moves by several blocks at a time. */
const FINAL_STRIDE = 4

/** What is wrong with a chain's endpoints right now; the world changes it. */
export type Weather = { status: HealthStatus; stalledUntilMs: number }

export class SimFeed implements Feed {
  readonly rpc = { call: nobody, code: nobody }
  readonly #chain: SimChain
  readonly #time: VirtualTime
  readonly #tempo: Tempo
  readonly #weather: Weather
  readonly #unlisten: () => void
  readonly #undoable: readonly (BlockRef & { readonly parentHash: Hex })[]
  #position: Hex | null
  #finalized: number
  #healthAtMs = 0
  #status: HealthStatus | null = null
  #isClosed = false
  #ring: () => void = () => undefined

  constructor(
    chain: SimChain,
    { time, tempo }: Pick<World, 'time' | 'tempo'>,
    weather: Weather,
    resume: Resume | null,
  ) {
    this.#chain = chain
    this.#time = time
    this.#tempo = tempo
    this.#weather = weather
    this.#position = resume?.tip.hash ?? null
    this.#undoable = resume?.undoable ?? []
    this.#finalized = resume?.finalized?.number ?? 0
    this.#unlisten = chain.onChange(() => this.wake())
  }

  /** There may be something to say. */
  wake(): void {
    this.#ring()
  }

  async *items(signal: AbortSignal): AsyncGenerator<FeedItem> {
    signal.addEventListener('abort', () => this.wake())
    while (!signal.aborted && !this.#isClosed) {
      const item = this.#next()
      this.#time.touch()
      if (item !== null) yield item
      else {
        const dueMs = Math.max(this.#healthAtMs, this.#time.nowMs + 1)
        const cancel = this.#time.after(dueMs - this.#time.nowMs, () => this.wake())
        await new Promise<void>(resolve => {
          this.#ring = resolve
        })
        cancel()
      }
    }
  }

  processed(): void {}

  calls(): [] {
    return []
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#unlisten()
    this.wake()
  }

  #next(): FeedItem | null {
    const { status } = this.#weather
    if (this.#time.nowMs >= this.#healthAtMs || status !== this.#status) return this.#health(status)
    if (this.#time.nowMs < this.#weather.stalledUntilMs) return null
    const chain = this.#chain
    if (this.#position === null) return this.#take([chain.begin()], null)
    if (!chain.isTrue(this.#position)) {
      const ancestor = this.#ancestor(this.#position)
      return this.#take(chain.after(ancestor), ancestor)
    }
    const { finalized } = chain
    const here = chain.at(this.#position)?.block.number ?? 0
    if (
      finalized !== null &&
      finalized.block.number >= this.#finalized + FINAL_STRIDE &&
      here >= finalized.block.number
    ) {
      this.#finalized = finalized.block.number
      return { kind: 'finalize', number: finalized.block.number, hash: finalized.block.hash }
    }
    const [link] = chain.after(this.#position)
    return link === undefined ? null : this.#take([link], null)
  }

  #take(links: readonly Link[], ancestor: Hex | null): FeedItem {
    const blocks = links.map(verified)
    const last = blocks.at(-1) as VerifiedBlock
    this.#position = last.hash
    return ancestor === null ? { kind: 'block', block: last } : { kind: 'reorg', ancestor, blocks }
  }

  /** The newest block below an orphaned one that is still true. */
  #ancestor(orphan: Hex): Hex {
    const parents = new Map(this.#undoable.map(({ hash, parentHash }) => [hash, parentHash]))
    let hash = orphan
    while (!this.#chain.isTrue(hash)) {
      const parent = this.#chain.at(hash)?.block.parentHash ?? parents.get(hash)
      if (parent === undefined) throw new Error(`nobody knows what is below ${hash}`)
      hash = parent
    }
    return hash
  }

  #health(status: HealthStatus): FeedItem {
    this.#status = status
    this.#healthAtMs = this.#time.nowMs + this.#tempo.of(HEALTH)
    const { block } = this.#chain.tip
    return {
      kind: 'health',
      record: {
        chain_id: this.#chain.chainId,
        status,
        reasons: status === 'HEALTHY' ? [] : ['SIMULATED'],
        head: { block_number: block.number, block_hash: block.hash, block_time_ms: block.timeMs },
        processed: null,
        finalized: null,
        lag_blocks: null,
        lag_ms: null,
        endpoints: [],
        updated_at_ms: this.#time.nowMs,
      },
    }
  }
}

/** Its logs stay with the chain: the simulated market reads them there. */
const verified = ({ block }: Link): VerifiedBlock => ({
  number: block.number,
  hash: block.hash,
  timeMs: block.timeMs,
  parentHash: block.parentHash,
  proof: block.proof,
  logs: [],
})

function nobody(): never {
  throw new Error('a simulated chain is asked through its market')
}
