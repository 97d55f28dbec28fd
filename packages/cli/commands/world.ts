/** `assay world`: the local chains alone, and the incidents that can be caused in them. */
import { Command } from 'commander'
import type { WorldOptions } from '../local/runWorld.ts'
import { whole, withJson, withProfile } from '../options.ts'
import { incidentCommand, incidentsCommand } from './incident.ts'

export const worldCommand = (): Command =>
  withProfile(withJson(new Command('world')))
    .enablePositionalOptions()
    .description('start only the local world; print its endpoints and a configuration for it')
    .option('--data <folder>', 'folder of the world', './data')
    .option('--seed <seed>', 'another seed gives different trades', whole, 1)
    .action(async (options: WorldOptions) => (await import('../local/runWorld.ts')).runWorld(options))
    .addCommand(incidentsCommand())
    .addCommand(incidentCommand())
