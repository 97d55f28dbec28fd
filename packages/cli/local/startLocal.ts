/**
 * Starts the local world, the service on it, and a key, and prints three calls to paste. Ctrl-C stops everything; the
 * next start continues with the same world, log and key.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildConsole } from '@assay/console/build'
import { startService } from '@assay/server'
import { loadConfig } from '@assay/server/config'
import { incidentDoor, type LocalWorld, type Profile, profileOf, startWorld, worldConfig } from '@assay/world'
import { stringify } from 'yaml'
import { assayCommand, startCommandLine } from './commandLine.ts'
import { untilPriced } from './firstPrices.ts'
import { refuseTakenPort } from './ground.ts'
import { keyIn } from './ownKey.ts'
import { untilStopped } from './signals.ts'
import { DEFAULT_PORT } from './startReal.ts'
import { listenForIncidents, refuseSecond } from './worldControl.ts'
import { matchLog } from './worldLog.ts'
import { print } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'

export type StartOptions = {
  readonly data: string
  readonly port?: number
  readonly seed: number
  /** How the endpoints of the local world behave. */
  readonly profile?: string
  readonly json?: boolean
}

export async function startLocal(folder: string, options: StartOptions): Promise<void> {
  const startedAt = performance.now()
  const profile = options.profile === undefined ? null : profileOf(options.profile)
  await refuseSecond(folder)
  await refuseTakenPort('127.0.0.1', options.port ?? DEFAULT_PORT)
  const progress = new Progress('Starting').tick()
  try {
    progress.note('Starting the local world: six chains, real contracts, traders.')
    const world = await startWorld({
      folder: join(folder, 'world'),
      seed: options.seed,
      ...(profile === null ? {} : { profile }),
      onProgress: line => progress.note(`  ${line}`),
    })
    try {
      if (profile !== null) progress.note(sentenceOf(profile))
      await serveWorld(world, folder, options, startedAt, progress)
    } finally {
      await world.close()
    }
  } finally {
    progress.end()
  }
}

async function serveWorld(
  world: LocalWorld,
  folder: string,
  options: StartOptions,
  startedAt: number,
  progress: Progress,
): Promise<void> {
  const database = join(folder, 'assay.db')
  const remark = await matchLog(database, world)
  if (remark !== null) progress.note(`  ${remark}`)
  const file = join(folder, 'assay.yaml')
  writeFileSync(file, stringify(worldConfig(world, { port: options.port ?? DEFAULT_PORT, database })))
  const config = loadConfig(file, process.env)
  const consoleFolder = await buildConsole(line => progress.note(`  ${line}`))
  const service = await startService({
    config,
    logLevel: 'warn',
    consoleFolder,
    world: incidentDoor(world),
  })
  const control = await listenForIncidents(world, folder)
  try {
    const key = await keyIn(join(folder, 'key'), config)
    progress.note('Waiting for the first price of every chain.')
    const unpriced = await untilPriced(service.url, key, words => progress.detail(words))
    // With a profile, a service that cannot cope is still worth watching; without one, something is broken.
    if (unpriced !== null && options.profile === undefined) throw new Error(unpriced)
    if (unpriced !== null) progress.note(unpriced)
    const seconds = (performance.now() - startedAt) / 1000
    progress.end()
    print(
      options,
      {
        url: service.url,
        key,
        config: file,
        seconds,
        chain_ids: world.chains.map(({ plan }) => plan.chainId),
        ...(options.profile === undefined ? {} : { profile: options.profile }),
      },
      () => introduction(service.url, key, world, seconds, file),
    )
    await untilStopped()
    console.error('\nStopping.')
  } finally {
    await control.close()
    await service.close()
  }
}

const sentenceOf = ({ name, about }: Profile): string =>
  `Profile ${name} is on: every endpoint of the service behaves like this: ${about}.`

function introduction(url: string, key: string, world: LocalWorld, seconds: number, file: string): string {
  const example = world.chains[0]?.plan.tokens.find(token => token.role === 'TOKEN')
  const assay = assayCommand()
  const bearer = `-H "Authorization: Bearer ${key}"`
  return `
Assay is up after ${seconds.toFixed(1)} s.

  Console  ${url}/
  API key  ${key}

Try it:

  curl -s ${bearer} ${url}/v1/chains
  curl -s ${bearer} ${url}/v1/quote/token/1/${example?.address.toLowerCase()}
  curl -s ${bearer} "${url}/v1/pools?chain_id=56&limit=2"

On the command line:

  export ASSAY_URL=${url} ASSAY_KEY=${key}
  ${assay} watch

Cause an incident, in the console under Operations or here, and watch what happens to the price:

  ${assay} world incidents
  ${assay} world incident rug --chain 1 --token ${example?.symbol}

These prices come from the local world (its configuration: ${file}).
For real chains name their nodes and start again: ASSAY_RPC_1=https://… ${startCommandLine()}, or
list them in assay.yaml, which ${assay} config init creates.

Ctrl-C stops everything; the next start continues from there.`
}
