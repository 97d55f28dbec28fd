/** `assay serve`: runs until it is told to stop, then closes everything in order. */
import { configWarnings } from '@assay/server/config'
import { startService } from '@assay/server'
import { configOf } from './configOf.ts'
import { untilStopped } from './signals.ts'

export async function serve(options: { readonly config?: string }): Promise<void> {
  const config = configOf(options)
  for (const warning of configWarnings(config)) console.error(`warning: ${warning}`)
  const service = await startService({ config })
  console.log(`Assay serves at ${service.url}`)
  await untilStopped()
  await service.close()
}
