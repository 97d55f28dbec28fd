/**
 * The chain a market lives on: heights, hashes and times, one block after another, without reorganisations.
 */
import type { V2Event } from '../../engine/amm/v2/kind.ts'
import type { V3Event } from '../../engine/amm/v3/kind.ts'
import type { Address, Block, BlockRef, PoolEvent } from '../../engine/chain/block.ts'
import { count, ms } from '../../engine/units.ts'
import { hashOf } from './identity.ts'

/** An event without a block yet. */
export type Draft = { readonly pool: Address } & (
  | { readonly family: 'amm_v2'; readonly event: V2Event }
  | { readonly family: 'amm_v3'; readonly event: V3Event }
)

export class ChainClock {
  readonly #seed: number
  readonly #blockMs: number
  #tip: BlockRef
  #pauseMs = 0

  constructor(seed: number, startMs: number, blockMs: number) {
    this.#seed = seed
    this.#blockMs = blockMs
    this.#tip = { number: count(1_000_000), hash: hashOf(seed, 'block', 1_000_000, 0), timeMs: ms(startMs) }
  }

  get tip(): BlockRef {
    return this.#tip
  }

  /** Delays the next block by this much, as after a halt. */
  pause(forMs: number): void {
    this.#pauseMs += forMs
  }

  /** The next block, with the events of these transactions in order. */
  mine(transactions: readonly (readonly Draft[])[]): Block {
    const parent = this.#tip
    const number = parent.number + 1
    const events: PoolEvent[] = []
    transactions.forEach((drafts, at) => {
      const transactionHash = hashOf(this.#seed, 'transaction', number, at)
      for (const draft of drafts) events.push({ ...draft, transactionHash, logIndex: count(events.length) })
    })
    const hash = hashOf(this.#seed, 'block', number, 0)
    this.#tip = { number: count(number), hash, timeMs: ms(parent.timeMs + this.#blockMs + this.#pauseMs) }
    this.#pauseMs = 0
    return { ...this.#tip, parentHash: parent.hash, proof: 'receipts', events }
  }
}
