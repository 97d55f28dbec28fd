/** How long the log is kept. */
import type { FaultLog } from '../faultLog.ts'
import { integer, mapping, nullish, type ValueOf } from '../field.ts'
import { MAX } from '../formats.ts'
import type { Named } from '../named.ts'

export const RETENTION = mapping('Records beyond both limits are deleted.', {
  hours: integer('The minimum age at which records are deleted, in hours.', [1, 24 * 3650, 'hours'], {
    default: 72,
  }),
  records: integer('The minimum number of records to retain.', [1000, MAX, 'records'], {
    default: 1_000_000,
  }),
  history_days: nullish(
    integer(
      'How long published prices can be read after their records are deleted, in days; by default as long as the records.',
      [1, 3650, 'days'],
      { examples: [365] },
    ),
  ),
})

type Retention = Named<ValueOf<typeof RETENTION>>
/** Without `historyDays`, the history of prices goes with the log. */
export type RetentionConfig = Omit<Retention, 'historyDays'> & { readonly historyDays?: number | null }

export const retentionConfig = ({ historyDays, ...log }: Retention): RetentionConfig =>
  historyDays === null ? log : { ...log, historyDays }

type Kept = {
  readonly retention: { readonly hours: number }
  readonly chains: readonly {
    readonly chain_id: number
    readonly block_time_ms: number
    readonly finality: object | { readonly depth: number }
  }[]
}

/** Records must outlast the longest reorganisation, or its withdrawals could not refer to them. */
export function recordsOutlastReorgs({ retention, chains }: Kept, _: string, faults: FaultLog): void {
  for (const { chain_id, finality, block_time_ms } of chains) {
    const depth = 'depth' in finality ? finality.depth : 0
    if (depth * block_time_ms < retention.hours * 3_600_000) continue
    const least = Math.ceil((depth * block_time_ms) / 3_600_000) + 1
    faults.add(
      'retention.hours',
      retention.hours,
      `at least ${least} hours: chain ${chain_id} may reorganise ${depth} blocks of ${block_time_ms} ms`,
    )
  }
}
