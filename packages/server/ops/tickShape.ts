/**
 * Keeps one object of `process.nextTick` alive for as long as the process runs. Every answer of node's server creates
 * such an object and drops it at once. V8 discards the shape of objects when none is alive during a garbage collection.
 * In up to half of all processes, code compiled after that ran every tick on the slow path, permanently: a twelfth of
 * the time of a cached answer.
 *
 * The object is not used. If node changes it, only that time is lost.
 */
import { executionAsyncResource } from 'node:async_hooks'

const kept: object[] = []

/** Call early, before there is much to collect. Returns the kept objects. */
export function keepTickShape(): readonly object[] {
  if (kept.length === 0) process.nextTick(keep, kept)
  return kept
}

/** Called with an argument, as node's server does it. */
function keep(where: object[]): void {
  where[0] = executionAsyncResource()
}
