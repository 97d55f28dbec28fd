/**
 * A feed of a simulated chain, as received by the worker: blocks in order, a reorganisation with its whole branch,
 * finality and health. It may stall for a while, like a feed whose endpoints are gone.
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
import type { Weather, World } from './world.ts'

/** Clients treat a service as gone after a minute of silence. */
const HEALTH: Pace = { stormMs: 15_000, quietMs: 55_000 }
/** Finality moves by several blocks at a time. */
const FINAL_STRIDE = 4

export class SimFeed implements Feed {
  readonly rpc = { call: nobody, code: nobody }
  readonly past = null
  readonly simulator = null
  readonly #chain: SimChain
  readonly #time: VirtualTime
  readonly #tempo: Tempo
  readonly #weather: Weather
  readonly #unlisten: () => void
  readonly #undoable: readonly (BlockRef & { readonly parentHash: Hex })[]
  readonly #onRebase: () => void
  readonly #longStopBlocks: number
  /** The end of the last gap, and the last block before it. */
  #gap: { readonly end: number; readonly before: { readonly number: number; readonly hash: Hex } } | null
  #position: Hex | null
  #finalized: number
  #healthAtMs = 0
  #status: HealthStatus | null = null
  #isClosed = false
  #ring: () => void = () => undefined

  constructor(
    chain: SimChain,
    { time, tempo, counts, longStopBlocks }: Pick<World, 'time' | 'tempo' | 'counts' | 'longStopBlocks'>,
    weather: Weather,
    resume: Resume | null,
  ) {
    this.#chain = chain
    this.#time = time
    this.#tempo = tempo
    this.#weather = weather
    this.#position = resume?.tip.hash ?? null
    this.#undoable = resume?.undoable ?? []
    this.#longStopBlocks = longStopBlocks
    this.#onRebase = () => {
      counts.rebases += 1
    }
    const end = (resume?.undoable[0]?.number ?? (resume?.tip.number ?? 0) + 1) - 1
    this.#gap = resume?.beforeGap === undefined ? null : { end, before: resume.beforeGap }
    this.#finalized = resume?.finalized?.number ?? 0
    this.#unlisten = chain.onChange(() => this.wake())
  }

  /** There may be something to deliver. */
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
    const stood = this.#ancestor(this.#position)
    const links = chain.after(stood.hash)
    const isLost = this.#gap !== null && stood.number < this.#gap.end
    if (isLost || links.length > this.#longStopBlocks) return this.#rebase(chain.tip, stood)
    if (stood.hash !== this.#position) return this.#take(links, stood.hash)
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
    const [link] = links
    return link === undefined ? null : this.#take([link], null)
  }

  #take(links: readonly Link[], ancestor: Hex | null): FeedItem {
    const blocks = links.map(verified)
    const last = blocks.at(-1) as VerifiedBlock
    this.#position = last.hash
    return ancestor === null ? { kind: 'block', block: last } : { kind: 'reorg', ancestor, blocks }
  }

  /** Nothing is known about the blocks of a gap: below its end, only the last block before it can be returned to. */
  #rebase({ block }: Link, stood: { readonly number: number; readonly hash: Hex }): FeedItem {
    const ancestor = this.#gap !== null && stood.number < this.#gap.end ? this.#gap.before : stood
    if (!this.#chain.isTrue(ancestor.hash)) throw new Error(`${ancestor.hash} was lost below a gap`)
    this.#gap = { end: block.number, before: ancestor }
    this.#position = block.hash
    this.#chain.beginAfterGap(ancestor.number)
    this.#onRebase()
    return { kind: 'rebase', block: verified({ block }), ancestor }
  }

  /** The newest true block at or below this one. */
  #ancestor(from: Hex): { readonly number: number; readonly hash: Hex } {
    const parents = new Map(this.#undoable.map(({ hash, parentHash }) => [hash, parentHash]))
    let hash = from
    while (!this.#chain.isTrue(hash)) {
      const parent = this.#chain.at(hash)?.block.parentHash ?? parents.get(hash)
      if (parent === undefined) throw new Error(`nobody knows what is below ${hash}`)
      hash = parent
    }
    return { number: this.#chain.at(hash)?.block.number ?? 0, hash }
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

/** Its logs stay with the chain, where the simulated market reads them. */
const verified = ({ block }: Pick<Link, 'block'>): VerifiedBlock => ({
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
