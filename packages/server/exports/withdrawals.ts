/**
 * Finds the prices of the log that a reorganisation withdrew. A PRICE_RETRACT `REORG` names one record, and an orphaned
 * swap its block; every price of that block or above it was on the same branch and is withdrawn too. A price on a lower
 * block of that branch that no record mentions stays: a reader of the stream was not informed of it either.
 */
import type { Sequence } from '../store/port.ts'

/** The fields of a record that describe a chain's branches. */
export type BranchRecord = {
  readonly sequence: Sequence
  readonly chainId: number
  readonly type: string
  readonly payload: Said
}
type Said = { readonly [field: string]: unknown }
type Place = { readonly number: number; readonly hash: string }
type Standing = Place & { readonly sequence: Sequence }

/** No reorganisation is deeper: undo data is kept for this many blocks by default (*policy* `max_undo_blocks`). */
const REACH_BLOCKS = 8192
/** Entries out of reach are dropped whenever the list has doubled, so each is examined twice at most. */
const LEAST_KEPT = 4096

export class Withdrawals {
  readonly #chains = new Map<number, Branch>()
  readonly #withdrawn = new Set<Sequence>()

  has(sequence: Sequence): boolean {
    return this.#withdrawn.has(sequence)
  }

  /** Call in the order of the log. */
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
      // Records of the same step are already on the new branch.
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

/** For a token the block of its evaluation, for a pool that of its last change. */
function placeOf(said: Said): Place | null {
  const at = (said['as_of'] ?? said) as Said
  const { block_number: number, block_hash: hash } = at
  return typeof number === 'number' && typeof hash === 'string' ? { number, hash } : null
}

/** The prices on a chain's blocks that may still be withdrawn. */
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

  /** Prices from this height up, except those of the block that is canonical now. */
  above(number: number, keptHash: string | null): readonly Standing[] {
    return this.#standing.filter(each => each.number >= number && each.hash !== keptHash)
  }

  /** Prices up to this height can no longer be withdrawn. */
  settle(number: number): void {
    if ((this.#standing[0]?.number ?? Number.POSITIVE_INFINITY) <= number)
      this.#standing = this.#standing.filter(each => each.number > number)
  }
}
