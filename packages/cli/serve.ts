/** `assay serve`: runs until it is told to stop, then closes everything in order. */
import { loadConfig } from '@assay/server/config'
import { startService } from '@assay/server'
import { untilStopped } from './signals.ts'

export async function serve(options: { readonly config: string }): Promise<void> {
  const service = await startService({ config: loadConfig(options.config, process.env) })
  console.log(`Assay serves at ${service.url}`)
  await untilStopped()
  await service.close()
}
