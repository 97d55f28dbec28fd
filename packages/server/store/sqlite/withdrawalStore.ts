/** What reorganisations withdrew, written with the commit that says so. */
import type { Withdrawal, WithdrawalStore } from '../withdrawals.ts'
import type { ScanStore } from '../withdrawalScan.ts'
import type { Connection } from './connection.ts'

export function withdrawalStore(connection: Connection): WithdrawalStore & ScanStore {
  const read = connection.prepare(`
    SELECT sequence, at_ms AS atMs, block_number AS blockNumber, kept_hash AS keptHash FROM withdrawal
    WHERE chain_id = ? AND sequence > ? AND block_number <= ? ORDER BY sequence`)
  const readScan = connection.prepare('SELECT at, until FROM withdrawal_scan')
  const advance = connection.prepare('UPDATE withdrawal_scan SET at = ? WHERE at < ?')
  const end = connection.prepare('DELETE FROM withdrawal_scan WHERE at >= until')
  const write = withdrawalWriter(connection)
  return {
    readWithdrawalScan: async () =>
      connection.query(() => (readScan.get() ?? null) as { at: number; until: number } | null),
    writeWithdrawalScan: (at, found) =>
      connection.write(() => {
        for (const { chainId, ...each } of found) write(chainId, [each])
        advance.run(at, at)
        end.run()
      }),
    readWithdrawals: async (chainId, { after, upToBlock }) =>
      connection.query(() => read.all(chainId, after, upToBlock) as unknown as readonly Withdrawal[]),
  }
}

/** Call inside a commit, after its sequences are taken. */
export function withdrawalWriter(
  connection: Connection,
): (chainId: number, found: readonly Withdrawal[]) => void {
  const insert = connection.prepare(`
    INSERT OR IGNORE INTO withdrawal (chain_id, sequence, at_ms, block_number, kept_hash)
    VALUES (?, ?, ?, ?, ?)`)
  return (chainId, found) => {
    for (const { sequence, atMs, blockNumber, keptHash } of found)
      insert.run(chainId, sequence, atMs, blockNumber, keptHash)
  }
}
