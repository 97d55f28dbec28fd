/** `assay serve`: runs until it is told to stop, then closes everything in order. */
import { buildConsole } from '@assay/console/build'
import { startService } from '@assay/server'
import { preflight } from '@assay/server/doctor'
import { configOf } from './configOf.ts'
import { untilStopped } from './signals.ts'

export async function serve(options: { readonly config?: string }): Promise<void> {
  const config = configOf(options)
  for (const warning of await preflight(config)) console.error(`warning: ${warning}`)
  const consoleFolder = await buildConsole(line => console.error(line))
  const service = await startService({ config, consoleFolder })
  console.log(`Assay serves at ${service.url}`)
  await untilStopped()
  await service.close()
}
