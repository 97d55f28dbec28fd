/** `npm start` with `ASSAY_RPC_<chain_id>` set: those chains, from the built-in table, and no local world. */
import { join } from 'node:path'
import { buildConsole } from '@assay/console/build'
import { startService } from '@assay/server'
import { environmentConfig } from '@assay/server/config'
import { preflight } from '@assay/server/doctor'
import { keyIn } from './ownKey.ts'
import { type JsonChoice, print } from '../terminal/print.ts'
import { untilStopped } from './signals.ts'

export async function startReal(
  folder: string,
  options: JsonChoice & { readonly port: number },
): Promise<void> {
  // A database of its own: the local world's chains have the same ids.
  const config = environmentConfig(process.env, {
    folder,
    port: options.port,
    database: join(folder, 'chains.db'),
  })
  for (const warning of await preflight(config)) console.error(`warning: ${warning}`)
  const consoleFolder = await buildConsole(line => console.error(line))
  const service = await startService({ config, logLevel: 'warn', consoleFolder })
  const key = await keyIn(join(folder, 'chains-key'), config)
  const bearer = `-H "Authorization: Bearer ${key}"`
  const [chain] = config.chains
  const chainIds = config.chains.map(({ chainId }) => chainId)
  print(
    options,
    { url: service.url, key, chain_ids: chainIds },
    () => `
Assay serves ${config.chains.map(({ name }) => name).join(', ')}.

  Console  ${service.url}/
  API key  ${key}

Try it:

  curl -s ${bearer} ${service.url}/v1/chains/${chain?.chainId}/health
  curl -s ${bearer} ${service.url}/v1/quote/token/${chain?.chainId}/${chain?.wrappedNative}

What each endpoint can do: npx assay doctor. Ctrl-C stops; starting again goes on where it stood.`,
  )
  await untilStopped()
  console.error('\nStopping.')
  await service.close()
}
