/**
 * Which prices of the log a reorganisation took back. A PRICE_RETRACT `REORG` names one record, and an orphaned swap its
 * block; whatever was said on that block, or above it, stood on the same branch and went with it. A price on a lower block of
 * that branch of which the log says nothing stays: a reader of the stream was not told of it either.
 */
import type { Sequence } from '../store/port.ts'

/** What a record says of a chain's branches. */
export type BranchRecord = {
  readonly sequence: Sequence
  readonly chainId: number
  readonly type: string
  readonly payload: Said
}
type Said = { readonly [field: string]: unknown }
type Place = { readonly number: number; readonly hash: string }
type Standing = Place & { readonly sequence: Sequence }

/** No reorganisation goes deeper: undo is kept for as many blocks by default (*policy* `max_undo_blocks`). */
const REACH_BLOCKS = 8192
/** Looked through for what is out of reach once it has doubled, so that each record is looked at twice at most. */
const LEAST_KEPT = 4096

export class Withdrawals {
  readonly #chains = new Map<number, Branch>()
  readonly #withdrawn = new Set<Sequence>()

  has(sequence: Sequence): boolean {
    return this.#withdrawn.has(sequence)
  }

  /** In the order of the log. */
  take(record: BranchRecord): void {
    const { chainId, type, payload, sequence } = record
    const branch = this.#branchOf(chainId)
    if (type === 'FEED_HEALTH') {
      const finalized = (payload['finalized'] ?? null) as Said | null
      if (typeof finalized?.['block_number'] === 'number') branch.settle(finalized['block_number'])
      return
    }
    if (type === 'SWAP_OBSERVED') {
      if (payload['finality'] === 'orphaned')
        this.#drop(branch, { number: Number(payload['block_number']), keptHash: null })
      return
    }
    const said = type === 'PRICE_RETRACT' ? (payload['current'] as Said | null) : payload
    const place = said === null ? null : placeOf(said)
    if (type === 'PRICE_RETRACT' && payload['reason'] === 'REORG') {
      const { stream_sequence: named } = payload['retracted'] as Said
      const number = branch.numberOf(named as Sequence)
      // What its own step has said already stands on the new branch.
      if (number !== null) this.#drop(branch, { number, keptHash: place?.hash ?? null })
    }
    if (place !== null) branch.push({ ...place, sequence })
  }

  #drop(branch: Branch, from: { readonly number: number; readonly keptHash: string | null }): void {
    for (const { sequence } of branch.above(from.number, from.keptHash)) this.#withdrawn.add(sequence)
  }

  #branchOf(chainId: number): Branch {
    const known = this.#chains.get(chainId)
    if (known !== undefined) return known
    const made = new Branch()
    this.#chains.set(chainId, made)
    return made
  }
}

/** Of a token the block it was evaluated at, of a pool that of its last change. */
function placeOf(said: Said): Place | null {
  const at = (said['as_of'] ?? said) as Said
  const { block_number: number, block_hash: hash } = at
  return typeof number === 'number' && typeof hash === 'string' ? { number, hash } : null
}

/** What was said on a chain's blocks that may still be taken back. */
class Branch {
  #standing: Standing[] = []
  #most = LEAST_KEPT
  #top = 0

  push(standing: Standing): void {
    this.#top = Math.max(this.#top, standing.number)
    this.#standing.push(standing)
    if (this.#standing.length < this.#most) return
    this.settle(this.#top - REACH_BLOCKS)
    this.#most = Math.max(LEAST_KEPT, 2 * this.#standing.length)
  }

  numberOf(sequence: Sequence): number | null {
    return this.#standing.find(each => each.sequence === sequence)?.number ?? null
  }

  /** What was said from this height on, but for the block that holds now. */
  above(number: number, keptHash: string | null): readonly Standing[] {
    return this.#standing.filter(each => each.number >= number && each.hash !== keptHash)
  }

  /** Up to there nothing can be taken back. */
  settle(number: number): void {
    if ((this.#standing[0]?.number ?? Number.POSITIVE_INFINITY) <= number)
      this.#standing = this.#standing.filter(each => each.number > number)
  }
}
