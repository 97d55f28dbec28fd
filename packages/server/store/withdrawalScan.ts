/**
 * Finds what reorganisations withdrew in the part of a log that was written before withdrawals were stored. In steps, so
 * that commits continue in between; a step that is repeated changes nothing.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Envelope } from '@assay/sdk/wire'
import type { LogRecord, LogStore, Sequence } from './port.ts'
import { goneBy, type Withdrawal, WithdrawalsOfCommit } from './withdrawals.ts'

export type ScanStore = {
  /** Read up to `at`, to be read up to `until`; null when nothing is left. */
  readWithdrawalScan(): Promise<{ readonly at: Sequence; readonly until: Sequence } | null>
  /** Stores what was found up to `at`. */
  writeWithdrawalScan(
    at: Sequence,
    found: readonly (Withdrawal & { readonly chainId: number })[],
  ): Promise<void>
}

/** Records of a step: few, because commits wait for it on SQLite. */
const PAGE = 200

export async function scanWithdrawals(
  store: ScanStore & Pick<LogStore, 'readLog'>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const scan = await store.readWithdrawalScan()
    if (scan === null || signal.aborted) return
    const page = await store.readLog(scan.at, PAGE, null)
    const found: (Withdrawal & { readonly chainId: number })[] = []
    for (const record of page) {
      if (record.sequence > scan.until || !mayWithdraw(record)) continue
      const withdrawals = new WithdrawalsOfCommit(record.timeMs)
      const { type, payload } = JSON.parse(record.envelope) as Envelope
      const gone = goneBy({ type, payload })
      if (gone !== null) withdrawals.add(record.sequence, gone, await retractedState(store, payload))
      found.push(...withdrawals.found.map(each => ({ ...each, chainId: record.chainId })))
    }
    await store.writeWithdrawalScan(page.at(-1)?.sequence ?? scan.until, found)
    await nextTurn()
  }
}

/** Most records are neither, and are not parsed. */
const mayWithdraw = ({ type, envelope }: LogRecord): boolean =>
  (type === 'SWAP_OBSERVED' && envelope.includes('"orphaned"')) ||
  (type === 'PRICE_RETRACT' && envelope.includes('"REORG"'))

/** The state of the record that a retraction names, as JSON; null when the log no longer has it. */
async function retractedState(
  store: Pick<LogStore, 'readLog'>,
  payload: Readonly<Record<string, unknown>>,
): Promise<string | null> {
  const named = (payload['retracted'] as { readonly stream_sequence?: Sequence | null } | undefined)
    ?.stream_sequence
  if (typeof named !== 'number') return null
  const [record] = await store.readLog(named - 1, 1, null)
  if (record?.sequence !== named) return null
  const { type, payload: said } = JSON.parse(record.envelope) as Envelope
  return JSON.stringify(type === 'PRICE_RETRACT' ? said['current'] : said)
}
