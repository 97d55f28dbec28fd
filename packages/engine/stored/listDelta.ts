/**
 * A list of moments as what differs from the one that came after it. The undo of a block keeps the histories before the block,
 * and nearly all that those hold stands in the next ones: a list goes on at its end, and loses what is too old at its start.
 *
 * Both are in the order of `fromMs`, and no moment stands twice in a list.
 */
import { assert } from '../assert.ts'

type Moment = { readonly fromMs: number }

export type ListDelta<Item> = {
  /** What stood before the common part, which is `kept` items of the later list from its place `from` on. */
  readonly before: readonly Item[]
  readonly from: number
  readonly kept: number
  readonly after: readonly Item[]
}

/** As it was stored before there were differences: whole. */
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
    from: kept === 0 ? 0 : from,
    kept,
    after: earlier.slice(at + kept),
  }
}

export function earlierOf<Item>(stored: StoredList<Item>, later: readonly Item[]): readonly Item[] {
  if (!('kept' in stored)) return stored
  const { before, from, kept, after } = stored
  assert(from + kept <= later.length, 'a stored undo does not fit what came after it')
  return [...before, ...later.slice(from, from + kept), ...after]
}
