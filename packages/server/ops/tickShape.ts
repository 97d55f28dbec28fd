/**
 * One object of `process.nextTick`, kept for as long as the process runs. Every answer of node's server makes such an
 * object and drops it at once. V8 forgets the shape of objects of which none is alive while it collects garbage; what it
 * compiled after that made every tick the slow way, for good, in up to half of the processes: a twelfth of the time of a
 * cached answer. Nothing is done with the object: were it another one, only that time is lost.
 */
import { executionAsyncResource } from 'node:async_hooks'

const kept: object[] = []

/** Before there is much to collect. Says what is kept. */
export function keepTickShape(): readonly object[] {
  if (kept.length === 0) process.nextTick(keep, kept)
  return kept
}

/** Called with an argument, as node's server does it. */
function keep(where: object[]): void {
  where[0] = executionAsyncResource()
}
