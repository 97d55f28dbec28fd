/**
 * A thread that copies the write-ahead log into the database file, so that commits need not. The process that has
 * claimed the database starts it; what it leaves undone the commits do themselves, as they would without it.
 */
import { closeSync, openSync } from 'node:fs'
import { Worker } from 'node:worker_threads'

/** What the thread is given: the database, and a descriptor of it to sync. */
export type Checkpointed = { readonly path: string; readonly file: number }

/** The returned function ends it, after all have closed the database: a descriptor that is closed takes their locks along. */
export function startCheckpointer(path: string): () => Promise<void> {
  const entry = new URL('./checkpointThread.ts', import.meta.url)
  const file = openSync(path, 'r+')
  const thread = new Worker(entry, { workerData: { path, file } satisfies Checkpointed, execArgv: [] })
  // It ends for good at the first failure: the next to meet that device is a commit, and that one tells.
  thread.on('error', () => undefined)
  const ended = new Promise<void>(resolve => void thread.once('exit', () => resolve()))
  // A process that is done with everything else does not stay for it.
  thread.unref()
  const stop = async (): Promise<void> => {
    thread.ref()
    thread.postMessage('close')
    await ended
    // Not when a failure ended it: others may have the database open then.
    closeSync(file)
  }
  let stopped: Promise<void> | null = null
  return () => (stopped ??= stop())
}
