/** `assay start`, which is `npm start`. */
import { Command } from 'commander'
import type { StartOptions } from '../local/startAll.ts'
import { port, whole, withJson } from '../options.ts'

export const startCommand = (): Command =>
  withJson(new Command('start'))
    .description('a local world of chains and the service on it, or the chains of ASSAY_RPC_<chain_id>')
    .option('--data <folder>', 'where the world, the log and the key are kept', './data')
    .option('--port <port>', 'where the service listens', port, 8080)
    .option('--seed <seed>', 'another seed makes other trades', whole, 1)
    .action(async (options: StartOptions) => (await import('../local/startAll.ts')).startAll(options))
