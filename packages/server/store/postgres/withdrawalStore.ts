/** What reorganisations withdrew, written with the commit that says so. */
import type { Withdrawal, WithdrawalStore } from '../withdrawals.ts'
import type { ScanStore } from '../withdrawalScan.ts'
import { type Connection, type Query, statement } from './connection.ts'

const READ = statement(`
  SELECT sequence, at_ms AS "atMs", block_number AS "blockNumber", kept_hash AS "keptHash" FROM withdrawal
  WHERE chain_id = $1 AND sequence > $2 AND block_number <= $3 ORDER BY sequence`)
const INSERT = statement(`
  INSERT INTO withdrawal (chain_id, sequence, at_ms, block_number, kept_hash)
  SELECT $1, row.* FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[]) AS row
  ON CONFLICT DO NOTHING`)

const READ_SCAN = statement('SELECT at, until FROM withdrawal_scan')
const ADVANCE_SCAN = statement('UPDATE withdrawal_scan SET at = $1 WHERE at < $1')
const END_SCAN = statement('DELETE FROM withdrawal_scan WHERE at >= until')

export const withdrawalStore = (connection: Connection): WithdrawalStore & ScanStore => ({
  readWithdrawals: (chainId, { after, upToBlock }) =>
    connection.query<Withdrawal>(READ, [chainId, after, upToBlock]),
  readWithdrawalScan: async () =>
    (await connection.query<{ at: number; until: number }>(READ_SCAN))[0] ?? null,
  writeWithdrawalScan: (at, found) =>
    connection.write(async query => {
      for (const { chainId, ...each } of found) await writeWithdrawals(query, chainId, [each])
      await query(ADVANCE_SCAN, [at])
      await query(END_SCAN)
    }),
})

/** Call inside a commit, after its sequences are taken. */
export async function writeWithdrawals(
  query: Query,
  chainId: number,
  found: readonly Withdrawal[],
): Promise<void> {
  if (found.length === 0) return
  await query(INSERT, [
    chainId,
    found.map(({ sequence }) => sequence),
    found.map(({ atMs }) => atMs),
    found.map(({ blockNumber }) => blockNumber),
    found.map(({ keptHash }) => keptHash),
  ])
}
