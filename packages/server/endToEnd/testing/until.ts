/** Waiting for a condition, never for a time: it is looked at again until it holds, and its name is in the failure. */

type Seen<Value> = Value | null | undefined | false

/**
 * Between two looks: a tenth of the time waited so far, within these. Short against everything that is waited for, and
 * a long wait leaves the processor to the work it waits for.
 */
const LOOK_MS = { least: 10, most: 100 }
/** A guard against a hang, far above what a machine ten times slower takes: how long something takes is not asserted here. */
const PATIENCE_MS = 180_000

/** What `look` gives once it gives something. */
export async function until<Value>(
  what: string,
  look: () => Seen<Value> | Promise<Seen<Value>>,
  patienceMs = PATIENCE_MS,
): Promise<Value> {
  const startMs = performance.now()
  for (;;) {
    const seen = await look()
    if (seen !== null && seen !== undefined && seen !== false) return seen
    const waitedMs = performance.now() - startMs
    if (waitedMs > patienceMs) throw new Error(`not within ${patienceMs} ms: ${what}`)
    const pauseMs = Math.min(Math.max(waitedMs / 10, LOOK_MS.least), LOOK_MS.most)
    await new Promise(resolve => setTimeout(resolve, pauseMs))
  }
}
