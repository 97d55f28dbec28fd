#!/usr/bin/env node
/** `assay`: one command line for the service, its local world, its keys and its prices. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { backupDb, checkDb, restoreDb } from './db.ts'
import { issueKey } from './keys.ts'
import { printQuote } from './quote.ts'
import { serve } from './serve.ts'
import { startAll } from './start.ts'
import { watch } from './watch.ts'
import { runWorld } from './world.ts'

const port = (text: string): number => {
  const value = Number(text)
  if (!/^\d{1,5}$/.test(text) || value > 65_535)
    throw new InvalidArgumentError('expected a port from 0 to 65535')
  return value
}

const program = new Command('assay')
  .description('USD prices of long-tail EVM tokens, each with its evidence and a weakest-link confidence')
  .showHelpAfterError()

program
  .command('start')
  .description('a local world of chains and the service on it; what `npm start` does')
  .option('--data <folder>', 'where the world, the log and the key are kept', './data')
  .option('--port <port>', 'where the service listens', port, 8080)
  .action(startAll)

program
  .command('serve')
  .description('serve exactly what a configuration file says')
  .requiredOption('--config <file>', 'the configuration, assay.yaml')
  .action(serve)

program
  .command('world')
  .description('only the local world; prints its endpoints and a configuration for it')
  .option('--data <folder>', 'where the world is kept', './data')
  .action(runWorld)

const keys = program.command('keys').description('API keys')
keys
  .command('issue')
  .description('make a key and print it once')
  .requiredOption('--config <file>', 'the configuration of the service')
  .requiredOption('--name <name>', 'what the key is for')
  .requiredOption('--scopes <scopes>', 'read, stream, admin; separated by commas')
  .option('--consumer <consumer>', 'who the key belongs to; keys of one consumer share a quota')
  .option('--json', 'print JSON')
  .action(issueKey)

const epoch = (text: string): number => {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('expected an epoch from 0 to 9999')
  return Number(text)
}
const db = program.command('db').description('the database of a configuration')
db.command('check')
  .description('whether the files are sound, the log is without a gap, and the state is its fold')
  .requiredOption('--config <file>', 'the configuration of the service')
  .option('--json', 'print JSON')
  .action(checkDb)
db.command('backup')
  .description('copy the database to a file while the service runs')
  .requiredOption('--config <file>', 'the configuration of the service')
  .requiredOption('--to <file>', 'the file to make')
  .action(backupDb)
db.command('restore')
  .description('put a backup in the place of the database and begin a new epoch; the service must be stopped')
  .requiredOption('--config <file>', 'the configuration of the service')
  .option('--from <file>', 'the backup; not for PostgreSQL, where pg_restore comes before')
  .option('--epoch <number>', 'only if the old database cannot be read: above every epoch it had', epoch)
  .action(restoreDb)

const service = () => [
  new Option('--url <url>', 'the service').env('ASSAY_URL').default('http://127.0.0.1:8080'),
  new Option('--key <key>', 'an API key').env('ASSAY_KEY'),
  new Option('--json', 'print JSON'),
]
const quote = program
  .command('quote')
  .description('the price of a token, with what it rests on')
  .argument('<chain>', 'chain id')
  .argument('<token>', 'token address')
for (const option of service()) quote.addOption(option)
quote.action(printQuote)

const watching = program
  .command('watch')
  .description('prices of a chain as they change, a line each')
  .argument('<chain>', 'chain id')
for (const option of service()) watching.addOption(option)
watching.action(watch)

try {
  await program.parseAsync()
} catch (failure) {
  console.error(failure instanceof Error ? failure.message : String(failure))
  process.exitCode = 1
}
