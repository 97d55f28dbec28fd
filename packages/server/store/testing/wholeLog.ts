/** Reads through all pages of the log and of the pool snapshot. */
import type { LogRecord, PoolRow } from '../port.ts'
import type { FullStore } from './connect.ts'

export async function wholeLog(store: FullStore, chainId: number | null = null): Promise<LogRecord[]> {
  const log: LogRecord[] = []
  for (;;) {
    const page = await store.readLog(log.at(-1)?.sequence ?? 0, 1_000, chainId)
    if (page.length === 0) return log
    log.push(...page)
  }
}

type Filter = { readonly chainId: number | null; readonly tokenAddress: string | null }

/** `between` runs after each page, for whatever should happen to a reader on its way. */
export async function wholeSnapshot(
  store: FullStore,
  limit: number,
  filter: Filter = { chainId: null, tokenAddress: null },
  between: () => Promise<void> = async () => {},
): Promise<PoolRow[]> {
  const rows: PoolRow[] = []
  for (;;) {
    const { pools } = await store.readPools({ ...filter, after: rows.at(-1) ?? null, limit })
    rows.push(...pools)
    if (pools.length < limit) return rows
    await between()
  }
}
