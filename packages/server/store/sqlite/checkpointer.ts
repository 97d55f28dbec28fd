/**
 * A thread that copies the write-ahead log into the database file, so that commits need not. The process that has
 * claimed the database starts it; what it leaves undone the commits do themselves, as they would without it.
 */
import { Worker } from 'node:worker_threads'

/** The returned function ends it, with its connection closed. */
export function startCheckpointer(path: string): () => Promise<void> {
  const entry = new URL('./checkpointThread.ts', import.meta.url)
  const thread = new Worker(entry, { workerData: path, execArgv: [] })
  // It ends for good at the first failure: the next to meet that device is a commit, and that one tells.
  thread.on('error', () => undefined)
  const ended = new Promise<void>(resolve => void thread.once('exit', () => resolve()))
  // A process that is done with everything else does not stay for it.
  thread.unref()
  return () => {
    thread.ref()
    thread.postMessage('close')
    return ended
  }
}
