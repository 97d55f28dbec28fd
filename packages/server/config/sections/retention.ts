/** How long the log is kept. */
import type { FaultLog } from '../faultLog.ts'
import { integer, mapping } from '../field.ts'
import { MAX } from '../formats.ts'

export const RETENTION = mapping('Records beyond both limits are deleted.', {
  hours: integer('How long records are kept, in hours.', [1, 24 * 3650, 'hours'], {
    default: 72,
  }),
  records: integer('The minimum number of records that are kept.', [1000, MAX, 'records'], {
    default: 1_000_000,
  }),
})

type Kept = {
  readonly retention: { readonly hours: number }
  readonly chains: readonly {
    readonly chain_id: number
    readonly block_time_ms: number
    readonly finality: object | { readonly depth: number }
  }[]
}

/** Records must outlast the longest reorganisation, or its withdrawals could not refer to them. */
export function recordsOutlastReorganisations(
  { retention, chains }: Kept,
  _: string,
  faults: FaultLog,
): void {
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
