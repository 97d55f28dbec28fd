/** `assay start`, which is `npm start`. */
import { Command } from 'commander'
import type { StartOptions } from '../local/startLocal.ts'
import { port, whole, withJson, withProfile } from '../options.ts'

export const startCommand = (): Command =>
  withProfile(withJson(new Command('start')))
    .description(
      'a local world of chains and the service on it; with assay.yaml or ASSAY_RPC_<chain_id>, those chains instead',
    )
    .option('--data <folder>', 'where the world, the log and the key are kept', './data')
    .option('--port <port>', 'where the service listens; by default 8080 or what assay.yaml says', port)
    .option('--seed <seed>', 'another seed gives different trades', whole, 1)
    .action(async (options: StartOptions) => (await import('../local/startAll.ts')).startAll(options))
