/** `assay world`: the local chains alone, with a configuration file that serves them. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startWorld, worldConfig } from '@assay/world'
import { stringify } from 'yaml'
import { untilStopped } from './signals.ts'
import { listenForIncidents, refuseSecond } from './worldControl.ts'

export async function runWorld(options: { readonly data: string; readonly seed: number }): Promise<void> {
  const folder = resolve(options.data)
  await refuseSecond(folder)
  const world = await startWorld({
    folder: join(folder, 'world'),
    seed: options.seed,
    onProgress: line => console.log(line),
  })
  const control = await listenForIncidents(world, folder)
  const file = join(folder, 'world.yaml')
  writeFileSync(file, stringify(worldConfig(world, { port: 8080, database: join(folder, 'assay.db') })))
  for (const { plan, url, wsUrl } of world.chains) console.log(`chain ${plan.chainId}  ${url}  ${wsUrl}`)
  console.log(`serve it with: npm run assay -- serve --config ${file}`)
  console.log('make something happen: npm run assay -- world incidents')
  await untilStopped()
  await control.close()
  await world.close()
}
