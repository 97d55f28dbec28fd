/** `assay start`, which is `npm start`. */
import { Command } from 'commander'
import type { StartOptions } from '../local/startLocal.ts'
import { port, whole, withJson, withProfile } from '../options.ts'

export const startCommand = (): Command =>
  withProfile(withJson(new Command('start')))
    .description(
      'start a local world of chains and the service on it; with assay.yaml or ASSAY_RPC_<chain_id>, serve those chains instead',
    )
    .option('--data <folder>', 'folder of the world, the log and the key', './data')
    .option('--port <port>', 'port to listen on; by default 8080, or that of assay.yaml', port)
    .option('--seed <seed>', 'another seed gives different trades', whole, 1)
    .action(async (options: StartOptions) => (await import('../local/startAll.ts')).startAll(options))
