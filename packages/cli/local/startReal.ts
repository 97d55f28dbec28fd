/** `npm start` with `assay.yaml` or `ASSAY_RPC_<chain_id>`: serves the chains they name, without a local world. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildConsole } from '@assay/console/build'
import { type Service, startService } from '@assay/server'
import { environmentConfig, hasShortCut, loadConfig } from '@assay/server/config'
import { preflight } from '@assay/server/doctor'
import { configFile } from '../options.ts'
import { assayCommand } from './commandLine.ts'
import { keyIn } from './ownKey.ts'
import { type JsonChoice, print } from '../terminal/print.ts'
import { untilStopped } from './signals.ts'

type Config = ReturnType<typeof loadConfig>
export type Real = { readonly config: Config; readonly keyFile: string }

export const DEFAULT_PORT = 8080

/** Null when no endpoint is configured: the local world is used then. A file takes precedence over the environment. */
export function realConfig(folder: string, port: number | undefined): Real | null {
  const file = configFile({})
  if (file !== null) {
    const config = loadConfig(file, process.env)
    const listen = port === undefined ? config.listen : { ...config.listen, port }
    return { config: { ...config, listen }, keyFile: join(folder, 'file-key') }
  }
  if (!hasShortCut(process.env)) return null
  // A separate database, because the local world's chains have the same ids.
  const config = environmentConfig(process.env, {
    folder,
    port: port ?? DEFAULT_PORT,
    database: join(folder, 'chains.db'),
  })
  return { config, keyFile: join(folder, 'chains-key') }
}

export async function startReal({ config, keyFile }: Real, options: JsonChoice): Promise<void> {
  for (const warning of await preflight(config)) console.error(`warning: ${warning}`)
  const consoleFolder = await buildConsole(line => console.error(line))
  const service = await startService({ config, logLevel: 'warn', consoleFolder })
  const key = await keyOf(service, config, keyFile)
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

To check the endpoints: ${assayCommand()} doctor. Ctrl-C stops the service; the next start continues where it left off.`,
  )
  await untilStopped()
  console.error('\nStopping.')
  await service.close()
}

/** The key of the last run, unless this database does not know it: the configuration may name a different one since. */
async function keyOf(service: Service, config: Config, file: string): Promise<string> {
  const key = await keyIn(file, config)
  if ((await service.access.authenticate({ bearer: key, cookie: null })) !== null) return key
  rmSync(file)
  return keyIn(file, config)
}
