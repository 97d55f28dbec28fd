/** `assay world`: the local chains alone, with a configuration file that serves them. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { profileOf, startWorld, worldConfig } from '@assay/world'
import { stringify } from 'yaml'
import { assayCommand } from './commandLine.ts'
import { refuseUnwritable } from './ground.ts'
import { untilStopped } from './signals.ts'
import { listenForIncidents, refuseSecond } from './worldControl.ts'
import { type JsonChoice, print } from '../terminal/print.ts'
import { table } from '../terminal/table.ts'

export type WorldOptions = JsonChoice & {
  readonly data: string
  readonly seed: number
  readonly profile?: string
}

export async function runWorld(options: WorldOptions): Promise<void> {
  const folder = resolve(options.data)
  refuseUnwritable(folder)
  await refuseSecond(folder)
  const world = await startWorld({
    folder: join(folder, 'world'),
    seed: options.seed,
    ...(options.profile === undefined ? {} : { profile: profileOf(options.profile) }),
    onProgress: line => console.error(line),
  })
  const control = await listenForIncidents(world, folder)
  const file = join(folder, 'world.yaml')
  writeFileSync(file, stringify(worldConfig(world, { port: 8080, database: join(folder, 'assay.db') })))
  const chains = world.chains.map(({ plan, url, wsUrl }) => ({ chain_id: plan.chainId, url, ws_url: wsUrl }))
  print(
    options,
    { chains, config: file },
    () => `${table(
      [{ title: 'Chain', align: 'right' }, { title: 'HTTP' }, { title: 'WebSocket' }],
      chains.map(({ chain_id, url, ws_url }) => [String(chain_id), url, ws_url]),
    )}

serve it with: ${assayCommand()} serve --config ${file}
cause an incident: ${assayCommand()} world incidents`,
  )
  await untilStopped()
  await control.close()
  await world.close()
}
