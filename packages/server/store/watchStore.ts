/** Watches a running store: notifications of other processes, and problems that build up slowly. */
import { statSync } from 'node:fs'
import type { Log } from '../ops/log.ts'
import { sqlitePath } from './openStore.ts'
import { CommitListener } from './postgres/listener.ts'

/** How often the size of the write-ahead log is checked, and the size that is worth a warning. */
const WAL_WATCH = { everyMs: 60_000, largeBytes: 256 * 1024 * 1024 }

export function watchStore(
  address: string,
  onNews: () => void,
  log: Pick<Log, 'warn'>,
  { everyMs, largeBytes } = WAL_WATCH,
): { close(): Promise<void> } {
  const path = sqlitePath(address)
  if (path === null)
    return new CommitListener({
      url: address,
      onNews,
      onQueue: share => log.warn('the notification queue of PostgreSQL fills up', { share }),
    })
  const timer = setInterval(() => {
    const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
    if (bytes > largeBytes)
      log.warn('the write-ahead log is large: a reader holds an old snapshot', { bytes })
  }, everyMs)
  timer.unref()
  return { close: async () => clearInterval(timer) }
}
