/**
 * Which dependents of an anchor are affected by its moves. Each dependent is filed under the anchor's marginal price
 * at its own last record; when the anchor moves, the dependents filed furthest away are taken from both ends.
 *
 * Derived from the tokens' published references. Groups are sorted by price and hold at least one token, so the cost
 * of a move depends on the groups it crosses, not on the number of dependents.
 */
import type { Address } from '../chain/block.ts'
import { apart, bpsMore } from '../exact/apart.ts'
import { firstFrom } from '../exact/firstFrom.ts'
import * as fraction from '../exact/fraction.ts'
import type { Fraction } from '../exact/fraction.ts'
import { type Count, count, type Approx, type Sign } from '../units.ts'

type Group = { readonly reference: Fraction; readonly approx: Approx; readonly tokens: Set<Address> }

export class MoveWatch {
  readonly #groups: Group[] = []
  readonly #groupOf = new Map<Address, Group>()

  /** Files `token` under the anchor's price at its last record, or forgets it. */
  file(token: Address, reference: Fraction | null): void {
    const previous = this.#groupOf.get(token)
    if (reference === null) {
      if (previous !== undefined) this.#leave(token, previous)
      return
    }
    if (previous?.reference === reference) return
    const approx = fraction.approx(reference)
    if (previous !== undefined) {
      // Equal answers of a feed are different objects at every moment.
      if (compare(previous, reference, approx) === 0) return
      this.#leave(token, previous)
    }
    const at = this.#position(reference, approx)
    let group = this.#groups[at]
    if (group === undefined || compare(group, reference, approx) !== 0) {
      group = { reference, approx, tokens: new Set() }
      this.#groups.splice(at, 0, group)
    }
    group.tokens.add(token)
    this.#groupOf.set(token, group)
  }

  /** Takes every dependent whose reference is at least `bps` away from the anchor, now at `price`. */
  takeMoved(price: Fraction, bps: bigint): Address[] {
    const moved: Address[] = []
    const isMoved = ({ reference }: Group): boolean => hasMoved(reference, price, bps)
    let low = 0
    while (low < this.#groups.length && isMoved(this.#groups[low] as Group)) low++
    let high = this.#groups.length
    while (high > low && isMoved(this.#groups[high - 1] as Group)) high--
    for (const group of [...this.#groups.slice(0, low), ...this.#groups.slice(high)])
      for (const token of group.tokens) {
        this.#groupOf.delete(token)
        moved.push(token)
      }
    this.#groups.splice(high)
    this.#groups.splice(0, low)
    return moved
  }

  #leave(token: Address, group: Group): void {
    group.tokens.delete(token)
    this.#groupOf.delete(token)
    if (group.tokens.size === 0) this.#groups.splice(this.#position(group.reference, group.approx), 1)
  }

  /** First group at or above `reference`. */
  #position(reference: Fraction, approx: Approx): Count {
    const isReached = (at: Count): boolean => compare(this.#groups[at] as Group, reference, approx) >= 0
    return firstFrom(count(-1), count(this.#groups.length), isReached)
  }
}

const compare = (group: Group, reference: Fraction, approx: Approx): Sign =>
  fraction.compareApprox(group.approx, approx) || fraction.compareExactly(group.reference, reference)

/** dev_bps(a, b) >= bps, exactly. */
export const hasMoved = (a: Fraction, b: Fraction, bps: bigint): boolean =>
  a !== b && apart(a, b, bpsMore(bps)) >= 0
