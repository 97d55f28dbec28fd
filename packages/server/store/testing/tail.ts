/** Many writers at once and one reader at the tail, who must see every record once, in order (S14). */
import { Worker } from 'node:worker_threads'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { FullStore } from './connect.ts'

export type AppenderOptions = { readonly address: string; readonly appends: number; readonly seed: number }
export type TailReport = { readonly records: number; readonly missed: number; readonly polls: number }

/** Each writer is a thread with a chain of its own; the reader polls as a hub does. */
export async function appendConcurrently(
  store: FullStore,
  writers: number,
  options: AppenderOptions,
): Promise<TailReport> {
  const threads = Array.from({ length: writers }, (_, at) => {
    const workerData = { ...options, chainId: at + 1, seed: options.seed + at }
    return once(new Worker(new URL('./appender.ts', import.meta.url), { workerData, execArgv: [] }), 'exit')
  })
  let isDone = false
  const ended = Promise.all(threads).then(codes => {
    isDone = true
    return codes
  })
  let [head, records, missed, polls] = [0, 0, 0, 0]
  for (;;) {
    // Asked before the read: what was committed until then must be in it.
    const isLast = isDone
    const page = await store.readLog(head, 1_000, null)
    polls++
    for (const { sequence } of page) {
      missed += sequence - head - 1
      head = sequence
      records++
    }
    if (page.length === 0) {
      if (isLast) break
      await delay(1)
    }
  }
  const codes = await ended
  if (codes.some(([code]) => code !== 0)) throw new Error(`a writer failed: ${JSON.stringify(codes)}`)
  return { records, missed, polls }
}
