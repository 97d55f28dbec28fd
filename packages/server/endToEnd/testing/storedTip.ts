/** The block a chain is committed up to, read past the API: it costs no quota, and an API that is blocked need not answer. */
import { DatabaseSync } from 'node:sqlite'

const PATIENCE_MS = 60_000

export function storedTip(path: string, chainId: number): number {
  const database = new DatabaseSync(path, { readOnly: true, timeout: PATIENCE_MS })
  const row = database.prepare('SELECT tip_number AS tip FROM position WHERE chain_id = ?').get(chainId)
  database.close()
  return Number(row?.['tip'])
}
