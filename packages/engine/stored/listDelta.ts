/**
 * A list of moments stored as its difference from a later version of the list. The undo data of a block holds the histories
 * before the block, and nearly all of their moments are also in the histories after it: a list grows at its end and drops
 * old moments at its start.
 *
 * Both lists are ordered by `fromMs`, and no list contains a moment twice.
 */
import { assert } from '../assert.ts'
import { type Count, count, type Ms } from '../units.ts'

type Moment = { readonly fromMs: Ms }

export type ListDelta<Item> = {
  /** Items before the common part, which is `kept` items of the later list starting at index `from`. */
  readonly before: readonly Item[]
  readonly from: Count
  readonly kept: Count
  readonly after: readonly Item[]
}

/** A whole list is the form from before differences were stored. */
export type StoredList<Item> = readonly Item[] | ListDelta<Item>

export function deltaOf<Item extends Moment>(
  earlier: readonly Item[],
  later: readonly Item[],
  isSame: (a: Item, b: Item) => boolean,
): ListDelta<Item> {
  let [at, from] = [0, 0]
  while (at < earlier.length && from < later.length) {
    const [own, other] = [earlier[at] as Item, later[from] as Item]
    if (own.fromMs === other.fromMs && isSame(own, other)) break
    if (own.fromMs <= other.fromMs) at++
    else from++
  }
  let kept = 0
  while (at + kept < earlier.length && from + kept < later.length) {
    const [own, other] = [earlier[at + kept] as Item, later[from + kept] as Item]
    if (own.fromMs !== other.fromMs || !isSame(own, other)) break
    kept++
  }
  return {
    before: earlier.slice(0, at),
    from: count(kept === 0 ? 0 : from),
    kept: count(kept),
    after: earlier.slice(at + kept),
  }
}

export function earlierOf<Item>(stored: StoredList<Item>, later: readonly Item[]): readonly Item[] {
  if (!('kept' in stored)) return stored
  const { before, from, kept, after } = stored
  assert(from + kept <= later.length, 'a stored undo does not fit what came after it')
  return [...before, ...later.slice(from, from + kept), ...after]
}
