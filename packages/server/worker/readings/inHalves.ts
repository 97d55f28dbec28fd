/**
 * Reads many items together when some may be unreadable. After a failure the items are read in halves, so one that
 * always fails is isolated in a few steps, and a transient failure costs one extra reading rather than one per item.
 */
import { type FeedError, isFeedError } from '../../feed/feedError.ts'

/**
 * An item that fails alone is dropped. Throws when no endpoint is available, and on any failure that is no endpoint's
 * fault.
 */
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
