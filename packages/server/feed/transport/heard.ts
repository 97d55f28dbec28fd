/**
 * When something was last heard of an answer, by the signal that can end its call. An answer is late after a silence, not
 * after a time: a large one takes seconds, and asking for it again would only slow it down.
 */
const heardAtMs = new WeakMap<AbortSignal, number>()

/** Bytes of the answer came, or its call was sent only now. */
export function noteHeard(signal: AbortSignal): void {
  heardAtMs.set(signal, performance.now())
}

/** The call waits for its turn with us, so the endpoint is not the one that is silent. */
export function noteQueued(signal: AbortSignal): void {
  heardAtMs.set(signal, Number.POSITIVE_INFINITY)
}

/** Milliseconds since then; infinite when nothing was heard, negative while the call waits for its turn. */
export const silenceMs = (signal: AbortSignal): number =>
  performance.now() - (heardAtMs.get(signal) ?? Number.NEGATIVE_INFINITY)
