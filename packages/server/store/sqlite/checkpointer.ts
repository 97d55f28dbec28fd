/**
 * A thread that copies the write-ahead log into the database file, so that commits need not. The process that has
 * claimed the database starts it. What it does not copy, the commits copy themselves, as they would without it.
 */
import { Worker } from 'node:worker_threads'

/** The returned function stops the thread and closes its connection. */
export function startCheckpointer(path: string): () => Promise<void> {
  const entry = new URL('./checkpointThread.ts', import.meta.url)
  const thread = new Worker(entry, { workerData: path, execArgv: [] })
  // It stops for good at the first failure: the next commit meets the same device and reports it.
  thread.on('error', () => undefined)
  const ended = new Promise<void>(resolve => void thread.once('exit', () => resolve()))
  // Must not keep a process alive that has nothing else to do.
  thread.unref()
  return () => {
    thread.ref()
    thread.postMessage('close')
    return ended
  }
}
