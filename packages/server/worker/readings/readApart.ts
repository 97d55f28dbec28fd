/**
 * Reads a catalogue in parts. If a part fails, its items are read one by one, all at the same time; a slow part
 * continues beside those after it. So an item that cannot be read, or hangs, delays only itself.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { isFeedError } from '../../feed/feedError.ts'

/** Items per part: a few hundred calls, sent together. */
const TOGETHER = 50
/** Concurrent parts: a catalogue of thousands neither waits for each part nor floods the node. */
const PARTS_AT_ONCE = 4
/** A part usually takes a fraction of this; the deadline of a call is longer. */
const PART_MS = 2_000

/**
 * Throws a failure once all items have been tried, or at once when no endpoint is available or the failure is no
 * endpoint's fault.
 */
export async function readApart<Item>(
  items: readonly Item[],
  read: (some: readonly Item[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const failures: unknown[] = []
  const note = (failure: unknown) => void failures.push(failure)
  const readings: Promise<void>[] = []
  const readPart = (some: readonly Item[]): Promise<void> =>
    read(some).catch(async (failure: unknown) => {
      if (some.length === 1 || isFinal(failure)) return note(failure)
      await Promise.all(some.map(item => read([item]).catch(note)))
    })
  const parts = inParts(items).values()
  const work = async (): Promise<void> => {
    for (const some of parts) {
      if (signal.aborted || failures.some(isFinal)) return
      const reading = readPart(some)
      readings.push(reading)
      await Promise.race([reading, pause(PART_MS, undefined, { ref: false })])
    }
  }
  await Promise.all(Array.from({ length: PARTS_AT_ONCE }, work))
  await Promise.all(readings)
  signal.throwIfAborted()
  if (failures.length > 0) throw failures.find(isFinal) ?? failures[0]
}

/** Whether reading the items one by one would fail the same way. */
const isFinal = (failure: unknown): boolean => !isFeedError(failure) || failure.code === 'NO_ENDPOINT'

const inParts = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / TOGETHER) }, (_, at) =>
    items.slice(at * TOGETHER, (at + 1) * TOGETHER),
  )
