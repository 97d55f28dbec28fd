/** `assay db`: check, backup and restore of the database of a configuration. */
import { loadConfig } from '@assay/server/config'
import { backupDatabase, checkDatabase, restoreDatabase } from '@assay/server/database'

type Options = { readonly config: string; readonly json?: boolean }

/** Exit code 2 when something is wrong with the database. */
export async function checkDb(options: Options): Promise<void> {
  const report = await checkDatabase(loadConfig(options.config, process.env))
  if (report.faults.length > 0) process.exitCode = 2
  if (options.json === true) {
    console.log(JSON.stringify(report))
    return
  }
  const { epoch, oldest, head, records, pools, tokens, faults } = report
  console.log(
    `epoch ${epoch}: ${records} records from ${oldest} to ${head}, ${pools} pools, ${tokens} tokens`,
  )
  for (const fault of faults) console.log(`fault: ${fault}`)
  console.log(faults.length === 0 ? 'The database is sound.' : 'The database is not sound: restore a backup.')
}

export async function backupDb(options: Options & { readonly to: string }): Promise<void> {
  const { epoch, head } = await backupDatabase(loadConfig(options.config, process.env), options.to)
  console.log(`${options.to} holds the database up to sequence ${head} of epoch ${epoch}.`)
}

export async function restoreDb(
  options: Options & { readonly from?: string; readonly epoch?: number },
): Promise<void> {
  const config = loadConfig(options.config, process.env)
  const { epoch, replaced } = await restoreDatabase(config, options.from ?? null, options.epoch ?? null)
  if (replaced !== null) console.log(`The database that was there is kept as ${replaced}.`)
  console.log(
    `Restored. Epoch ${epoch} begins: cursors of before are refused, and clients take a new snapshot.`,
  )
}
