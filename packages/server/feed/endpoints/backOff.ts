/**
 * How long to leave a failing endpoint alone: twice as long after every failure, with jitter, so that the chains of one
 * host do not return to a provider in step.
 */

const FIRST_MS = 250
/** A node that comes back is noticed within half a minute. */
const LONGEST_MS = 30_000

/** Between half the step and all of it; `failures` counts from 1. */
export function backOffMs(failures: number, random: () => number = Math.random): number {
  const stepMs = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 16), LONGEST_MS)
  return stepMs / 2 + (stepMs / 2) * random()
}
