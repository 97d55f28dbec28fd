/**
 * Which of the given blocks are final: by the chain's `finalized` tag, or by depth below the tip. Only a
 * block that the consumer has committed and that is on our lineage is said to be final, and never a lower
 * one after a higher one.
 */
import type { Clock } from '../ops/clock.ts'
import type { ChainConfig, Hex } from '../ops/config.ts'
import { Bell } from './bell.ts'
import type { FeedLog } from './endpoint.ts'
import type { EndpointSet } from './endpointSet.ts'
import type { BlockRef } from './feed.ts'
import { isFeedError } from './feedError.ts'
import { fetchHeaderByNumber, fetchHeaderByTag } from './header.ts'
import type { Lineage } from './lineage.ts'

export type Final = { readonly number: number; readonly hash: Hex }

type FinalityOptions = {
  readonly chain: Pick<ChainConfig, 'chainId' | 'blockTimeMs' | 'finality'>
  readonly endpoints: EndpointSet
  readonly lineage: Lineage
  readonly finalized: Final | null
  readonly processed: () => BlockRef | null
  readonly clock: Clock
  readonly log: FeedLog
  readonly onChange: () => void
}

/** Between two questions while blocks arrive. */
const PAUSE_MS = { least: 100, most: 4000 } as const
/** Finality may move without a new block. */
const QUIET_MS = 15_000

export class Finality {
  readonly #options: FinalityOptions
  readonly #bell = new Bell()
  #final: Final | null
  #isGiven = true
  /** The highest number the chain called final, ours or not. */
  #highest = -1
  #advancedAtMs: number
  #asked: string | null = null

  constructor(options: FinalityOptions) {
    this.#options = options
    this.#final = options.finalized
    this.#advancedAtMs = options.clock.monotonicMs()
  }

  get final(): Final | null {
    return this.#final
  }

  /** Monotonic time at which finality last moved, or at which we began to look. */
  get advancedAtMs(): number {
    return this.#advancedAtMs
  }

  /** A block was committed: something may have become final. */
  nudge(): void {
    this.#bell.ring()
  }

  take(): Final | null {
    if (this.#isGiven) return null
    this.#isGiven = true
    return this.#final
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { blockTimeMs } = this.#options.chain
    const pauseMs = Math.min(Math.max(blockTimeMs / 2, PAUSE_MS.least), PAUSE_MS.most)
    const rest = new Bell()
    while (!signal.aborted) {
      const processed = this.#options.processed()
      if (processed !== null && processed.hash !== this.#asked) {
        this.#asked = processed.hash
        await this.#look(processed, signal)
        await rest.rung(signal, pauseMs)
      } else {
        await this.#bell.rung(signal, QUIET_MS)
        if (this.#options.processed()?.hash === this.#asked) this.#asked = null
      }
    }
  }

  async #look(processed: BlockRef, signal: AbortSignal): Promise<void> {
    const { chain } = this.#options
    try {
      const { finality } = chain
      if (finality.kind === 'tag') await this.#lookByTag(processed, signal)
      else this.#settle(this.#options.lineage.at(processed.number - finality.depth))
    } catch (error) {
      if (signal.aborted) return
      if (!isFeedError(error)) throw error
      // Some chains answer with an error while no block is final: a fact about the chain, not a fault.
      const fields = { chain_id: chain.chainId, code: error.code, reason: error.message }
      this.#options.log('debug', 'finality is not known', fields)
    }
  }

  async #lookByTag(processed: BlockRef, signal: AbortSignal): Promise<void> {
    const { endpoints, lineage } = this.#options
    const tagged = await endpoints.attempt(endpoint => fetchHeaderByTag(endpoint, 'finalized', signal))
    if (tagged === null) return
    if (tagged.number > this.#highest) {
      this.#highest = tagged.number
      this.#advancedAtMs = this.#options.clock.monotonicMs()
    }
    const number = Math.min(tagged.number, processed.number)
    if (number <= (this.#final?.number ?? -1) || lineage.at(number) === null) return
    // Below the finalized block, what is canonical is final.
    const { hash } =
      number === tagged.number
        ? tagged
        : await endpoints.attempt(endpoint => fetchHeaderByNumber(endpoint, number, signal))
    const ours = lineage.at(number)
    if (ours?.hash === hash) this.#settle(ours)
  }

  /** The lineage may have moved while we asked; the committed block must still be on it. */
  #settle(block: BlockRef | null): void {
    const { lineage, processed, clock } = this.#options
    const committed = processed()
    if (block === null || committed === null || block.number <= (this.#final?.number ?? -1)) return
    if (block.number > committed.number || lineage.at(committed.number)?.hash !== committed.hash) return
    this.#final = { number: block.number, hash: block.hash }
    this.#isGiven = false
    if (this.#options.chain.finality.kind === 'depth') this.#advancedAtMs = clock.monotonicMs()
    lineage.finalize(block.number)
    this.#options.onChange()
  }
}
