/**
 * A list of moments stored as its difference from a later version of the list. The undo data of a block holds the histories
 * before the block, and nearly all of their moments are also in the histories after it: a list grows at its end and drops
 * old moments at its start.
 *
 * Both lists are ordered by `fromMs`, and no list contains a moment twice.
 */
import { assert } from '../assert.ts'
import { type Count, count, type Ms } from '../units.ts'

export type ListDelta<Item> = {
  /** Items before the common part, which is `kept` items of the later list starting at index `from`. */
  readonly before: readonly Item[]
  readonly from: Count
  readonly kept: Count
  readonly after: readonly Item[]
}

/** A whole list is the form from before differences were stored. */
export type StoredList<Item> = readonly Item[] | ListDelta<Item>

export const momentsIn = <Item extends { readonly fromMs: Ms }>(items: readonly Item[]): Moments<Item> => ({
  length: count(items.length),
  fromMsAt: at => (items[at] as Item).fromMs,
  itemAt: at => items[at] as Item,
})

/** A list by its places. A pool has hundreds of moments, and few of them are stored with a change. */
export type Moments<Item> = {
  readonly length: Count
  readonly fromMsAt: (at: Count) => Ms
  readonly itemAt: (at: Count) => Item
}

/** `known` items from `at` of the earlier list are those from `from` of the later one. */
export type Common = { readonly at: Count; readonly from: Count; readonly known: Count }
const NOTHING_COMMON: Common = { at: count(0), from: count(0), known: count(0) }

/** `isSame` compares an item of the earlier list with one of the later, both by their places. */
export function deltaOf<Item>(
  earlier: Moments<Item>,
  later: Moments<Item>,
  isSame: (at: Count, from: Count) => boolean,
  common = NOTHING_COMMON,
): ListDelta<Item> {
  let { at, from, known: kept } = common
  while (kept === 0 && at < earlier.length && from < later.length) {
    const [ownMs, otherMs] = [earlier.fromMsAt(at), later.fromMsAt(from)]
    if (ownMs === otherMs && isSame(at, from)) break
    if (ownMs <= otherMs) at++
    else from++
  }
  for (; at + kept < earlier.length && from + kept < later.length; kept++) {
    const [own, other] = [count(at + kept), count(from + kept)]
    if (earlier.fromMsAt(own) !== later.fromMsAt(other) || !isSame(own, other)) break
  }
  return {
    before: itemsOf(earlier, count(0), at),
    from: count(kept === 0 ? 0 : from),
    kept,
    after: itemsOf(earlier, count(at + kept), earlier.length),
  }
}

function itemsOf<Item>({ itemAt }: Moments<Item>, from: Count, to: Count): Item[] {
  const items: Item[] = []
  for (let at = from; at < to; at++) items.push(itemAt(at))
  return items
}

export function earlierOf<Item>(stored: StoredList<Item>, later: readonly Item[]): readonly Item[] {
  if (!('kept' in stored)) return stored
  const { before, from, kept, after } = stored
  assert(from + kept <= later.length, 'a stored undo does not fit what came after it')
  return [...before, ...later.slice(from, from + kept), ...after]
}
