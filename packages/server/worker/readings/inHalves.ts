/**
 * Reads many items together, although some of them may not be readable. Items of a failed reading are read in halves, so
 * one that always fails is found in a few steps, and a failure of the moment costs one reading more, not one for each item.
 */
import { type FeedError, isFeedError } from '../../feed/feedError.ts'

/** An item that fails alone is given up. Throws when nobody can be asked, and all that no endpoint is at fault for. */
export async function inHalves<Item>(
  items: readonly Item[],
  read: (some: readonly Item[]) => Promise<unknown>,
  onGivenUp: (item: Item, failure: FeedError) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    if (items.length > 0) await read(items)
  } catch (failure) {
    signal.throwIfAborted()
    if (!isFeedError(failure) || failure.code === 'NO_ENDPOINT') throw failure
    const [item] = items
    if (items.length === 1 && item !== undefined) return onGivenUp(item, failure)
    const middle = Math.ceil(items.length / 2)
    await inHalves(items.slice(0, middle), read, onGivenUp, signal)
    await inHalves(items.slice(middle), read, onGivenUp, signal)
  }
}
