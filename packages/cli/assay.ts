#!/usr/bin/env node
/** `assay`: one command line for the service, its local world, its keys and its prices. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { issueKey, listKeys, revokeKey, rollKey } from './keys.ts'
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
keys
  .command('list')
  .description('all keys, without their secrets')
  .requiredOption('--config <file>', 'the configuration of the service')
  .option('--json', 'print JSON')
  .action(listKeys)
keys
  .command('roll')
  .description('another key in the place of this one, which ends at once; printed once')
  .argument('<key_id>', 'the eight letters after assay_')
  .requiredOption('--config <file>', 'the configuration of the service')
  .option('--json', 'print JSON')
  .action(rollKey)
keys
  .command('revoke')
  .description('end a key, its sessions and its streams')
  .argument('<key_id>', 'the eight letters after assay_')
  .requiredOption('--config <file>', 'the configuration of the service')
  .option('--json', 'print JSON')
  .action(revokeKey)

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
