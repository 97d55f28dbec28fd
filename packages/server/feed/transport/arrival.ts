/**
 * When the latest bytes of an answer arrived, keyed by the signal that can abort its call. An answer is late after a
 * silence, not after a total time: a large one takes seconds, and a second request would only slow it down.
 */
const heardAtMs = new WeakMap<AbortSignal, number>()

/** Bytes of the answer arrived, or its call was just sent. */
export function noteArrival(signal: AbortSignal): void {
  heardAtMs.set(signal, performance.now())
}

/** The call waits in our own queue, so the silence is not the endpoint's. */
export function noteQueued(signal: AbortSignal): void {
  heardAtMs.set(signal, Number.POSITIVE_INFINITY)
}

/** Milliseconds of silence; infinite before the call is noted, negative while it waits in our queue. */
export const silenceMs = (signal: AbortSignal): number =>
  performance.now() - (heardAtMs.get(signal) ?? Number.NEGATIVE_INFINITY)
