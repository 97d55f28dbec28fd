#!/usr/bin/env node
/** `assay`: one command line for the service, its local world, its keys and its prices. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { runBackfillCommand } from './backfill.ts'
import { backupDb, checkDb, restoreDb } from './db.ts'
import { runDoctor } from './doctor.ts'
import { issueKey, listKeys, revokeKey, rollKey } from './keys.ts'
import { printQuote } from './quote.ts'
import { serve } from './serve.ts'
import { startAll } from './start.ts'
import { verifyQuote } from './verify.ts'
import { watch } from './watch.ts'
import { runWorld } from './world.ts'
import { incident, incidents } from './worldControl.ts'

const port = (text: string): number => {
  const value = Number(text)
  if (!/^\d{1,5}$/.test(text) || value > 65_535)
    throw new InvalidArgumentError('expected a port from 0 to 65535')
  return value
}

const whole = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('expected a whole number')
  return Number(text)
}

const program = new Command('assay')
  .description('USD prices of long-tail EVM tokens, each with its evidence and a weakest-link confidence')
  .showHelpAfterError()
  .enablePositionalOptions()

program
  .command('start')
  .description('a local world of chains and the service on it, or the chains of ASSAY_RPC_<chain_id>')
  .option('--data <folder>', 'where the world, the log and the key are kept', './data')
  .option('--port <port>', 'where the service listens', port, 8080)
  .option('--seed <seed>', 'another seed makes other trades', whole, 1)
  .action(startAll)

program
  .command('serve')
  .description('serve exactly what a configuration file says, or the chains of ASSAY_RPC_<chain_id>')
  .option('--config <file>', 'the configuration, assay.yaml')
  .action(serve)

const world = program
  .command('world')
  .enablePositionalOptions()
  .description('only the local world; prints its endpoints and a configuration for it')
  .option('--data <folder>', 'where the world is kept', './data')
  .option('--seed <seed>', 'another seed makes other trades', whole, 1)
  .action(runWorld)
world.command('incidents').description('what can be made to go wrong in a running world').action(incidents)
world
  .command('incident')
  .description('makes something go wrong in a running world')
  .argument('<name>', 'one of `world incidents`')
  .option('--data <folder>', 'where the world is kept', './data')
  .option('--chain <id>', 'chain id; left out, the first', whole)
  .option('--token <symbol>', 'a token of that chain; left out, one that suits')
  .option('--depth <blocks>', 'of a reorg', whole)
  .option('--end', 'ends it, where it has an end')
  .option('--json', 'print JSON')
  .action(incident)

const timeout = (text: string): number => {
  const value = Number(text)
  if (!/^\d{3,5}$/.test(text)) throw new InvalidArgumentError('expected milliseconds from 100 to 99999')
  return value
}

program
  .command('doctor')
  .description('asks every configured endpoint what it serves and can do; exit code 1 when one fails')
  .option('--config <file>', 'the configuration; left out, the chains of ASSAY_RPC_<chain_id>')
  .option('--timeout <ms>', 'the longest wait for one answer', timeout, 5000)
  .option('--json', 'print JSON')
  .action(runDoctor)

program
  .command('backfill')
  .description('scans the past of a chain for pools and their events; cut short, it goes on where it was')
  .option('--config <file>', 'the configuration; left out, the chains of ASSAY_RPC_<chain_id>')
  .requiredOption('--chain <id>', 'the chain', whole)
  .option('--from <block>', 'where a new scan begins; left out, at the first deployment', whole)
  .option('--to <block>', 'where it ends; left out, at the finalized block', whole)
  .option('--json', 'print progress as JSON lines')
  .action(runBackfillCommand)

const keys = program.command('keys').description('API keys')
keys
  .command('issue')
  .description('make a key and print it once')
  .option('--config <file>', 'the configuration of the service; left out, that of ASSAY_RPC_<chain_id>')
  .requiredOption('--name <name>', 'what the key is for')
  .requiredOption('--scopes <scopes>', 'read, stream, admin; separated by commas')
  .option('--consumer <consumer>', 'who the key belongs to; keys of one consumer share a quota')
  .option('--json', 'print JSON')
  .action(issueKey)
keys
  .command('list')
  .description('all keys, without their secrets')
  .option('--config <file>', 'the configuration of the service; left out, that of ASSAY_RPC_<chain_id>')
  .option('--json', 'print JSON')
  .action(listKeys)
keys
  .command('roll')
  .description('another key in the place of this one, which ends at once; printed once')
  .argument('<key_id>', 'the eight letters after assay_')
  .option('--config <file>', 'the configuration of the service; left out, that of ASSAY_RPC_<chain_id>')
  .option('--json', 'print JSON')
  .action(rollKey)
keys
  .command('revoke')
  .description('end a key, its sessions and its streams')
  .argument('<key_id>', 'the eight letters after assay_')
  .option('--config <file>', 'the configuration of the service; left out, that of ASSAY_RPC_<chain_id>')
  .option('--json', 'print JSON')
  .action(revokeKey)

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

const verifying = program
  .command('verify')
  .description('recomputes the price of a token from its own evidence; exit code 1 when a number differs')
  .argument('<chain>', 'chain id')
  .argument('<token>', 'token address')
  .option('--rpc <url>', 'a node of your own, to hold the evidence against')
for (const option of service()) verifying.addOption(option)
verifying.action(verifyQuote)

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
