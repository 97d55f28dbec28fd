/** Waiting for a condition, never for a time: it is looked at again until it holds, and its name is in the failure. */

type Seen<Value> = Value | null | undefined | false

/** Between two looks; short against everything that is waited for. */
const LOOK_MS = 10
/** A guard against a hang, far above what a machine ten times slower takes: how long something takes is not asserted here. */
const PATIENCE_MS = 180_000

/** What `look` gives once it gives something. */
export async function until<Value>(
  what: string,
  look: () => Seen<Value> | Promise<Seen<Value>>,
  patienceMs = PATIENCE_MS,
): Promise<Value> {
  const endMs = performance.now() + patienceMs
  for (;;) {
    const seen = await look()
    if (seen !== null && seen !== undefined && seen !== false) return seen
    if (performance.now() > endMs) throw new Error(`not within ${patienceMs} ms: ${what}`)
    await new Promise(resolve => setTimeout(resolve, LOOK_MS))
  }
}
