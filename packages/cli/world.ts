/** `assay world`: the local chains alone, with a configuration file that serves them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startWorld, worldConfig } from '@assay/world'
import { stringify } from 'yaml'
import { untilStopped } from './signals.ts'

export async function runWorld(options: { readonly data: string }): Promise<void> {
  const folder = resolve(options.data)
  const world = await startWorld({ folder: join(folder, 'world'), onProgress: line => console.log(line) })
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'world.yaml')
  writeFileSync(file, stringify(worldConfig(world, { port: 8080, database: join(folder, 'assay.db') })))
  for (const { plan, url, wsUrl } of world.chains) console.log(`chain ${plan.chainId}  ${url}  ${wsUrl}`)
  console.log(`serve it with: npx assay serve --config ${file}`)
  await untilStopped()
  await world.close()
}
