/** `assay db`: checks, backs up, restores and moves the database of a configuration. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { EXIT } from '../exit.ts'
import { type ConfigChoice, installedConfig, withInstalled } from '../options.ts'
import { paint } from '../terminal/paint.ts'
import { print } from '../terminal/print.ts'
import { during } from '../terminal/progress.ts'

type Options = ConfigChoice & { readonly json?: boolean }

const server = () => import('@assay/server/database')

const epochNumber = (text: string): number => {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('Expected an epoch from 0 to 9999.')
  return Number(text)
}

export function dbCommand(): Command {
  const db = new Command('db').description('check, back up, restore or move the database of a configuration')
  withInstalled(db.command('check'))
    .description('check that the files are intact, the log has no gap, and the state matches the log')
    .action(checkDb)
  withInstalled(db.command('backup'))
    .description('copy the database to a file while the service runs')
    .requiredOption('--to <file>', 'the file to create')
    .action(backupDb)
  withInstalled(db.command('restore'))
    .description('replace the database with a backup and begin a new epoch; the service must be stopped')
    .option('--from <file>', 'the backup; not for PostgreSQL, where you run pg_restore first')
    .option(
      '--epoch <number>',
      'required if the old database cannot be read, or a PostgreSQL backup is restored again; higher than every previous epoch',
      epochNumber,
    )
    .action(restoreDb)
  withInstalled(db.command('move'))
    .description(
      'copy a SQLite database into an empty PostgreSQL one, all or nothing; the service must be stopped',
    )
    .addOption(
      new Option('--to <address>', 'postgres://user:secret@host/database')
        .env('ASSAY_MOVE_TO')
        .makeOptionMandatory(),
    )
    .action(moveDb)
  return db
}

async function checkDb(options: Options): Promise<void> {
  const config = await installedConfig(options)
  const report = await during('Reading the log', async () => (await server()).checkDatabase(config))
  const { epoch, oldest, head, records, pools, tokens, faults } = report
  if (faults.length > 0) process.exitCode = EXIT.failed
  print(options, report, () =>
    [
      `epoch ${epoch}: ${records} records from ${oldest} to ${head}, ${pools} pools, ${tokens} tokens`,
      ...faults.map(fault => `${paint('red', 'fault')}: ${fault}`),
      faults.length === 0
        ? paint('green', 'The database is sound.')
        : 'The database is not sound: restore a backup.',
    ].join('\n'),
  )
}

async function backupDb(options: Options & { readonly to: string }): Promise<void> {
  const config = await installedConfig(options)
  const { epoch, head } = await during('Copying', async () =>
    (await server()).backupDatabase(config, options.to),
  )
  print(
    options,
    { file: options.to, epoch, head },
    () => `${options.to} holds the database up to sequence ${head} of epoch ${epoch}.`,
  )
}

async function restoreDb(
  options: Options & { readonly from?: string; readonly epoch?: number },
): Promise<void> {
  const config = await installedConfig(options)
  const { epoch, replaced } = await during('Restoring', async () =>
    (await server()).restoreDatabase(config, options.from ?? null, options.epoch ?? null),
  )
  print(
    options,
    { epoch, replaced },
    () =>
      `${replaced === null ? '' : `The database that was there is kept as ${replaced}.\n`}Restored. Epoch ${epoch} begins: earlier cursors are refused, and clients take a new snapshot.`,
  )
}

async function moveDb(options: Options & { readonly to: string }): Promise<void> {
  const config = await installedConfig(options)
  const moved = await during('Moving', async () => (await server()).moveDatabase(config, options.to))
  const { epoch, head, records, rows } = moved
  print(
    options,
    moved,
    () =>
      `Moved ${rows} rows and checked them: ${records} records up to sequence ${head} of epoch ${epoch}. Set \`store\` of the configuration to the new address and start the service: keys, sessions and cursors stay valid. The SQLite file is unchanged; do not serve it again, or there will be two diverging logs.`,
  )
}
