/**
 * `npm start`: the local world, the service on it, a key, and three calls to paste; with endpoints of real chains in
 * the environment those chains instead, and no world. Ctrl-C stops everything;
 * started again, the same world, log and key go on.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startService } from '@assay/server'
import { hasShortCut, loadConfig } from '@assay/server/config'
import { type LocalWorld, startWorld, worldConfig } from '@assay/world'
import { stringify } from 'yaml'
import { keyIn } from './ownKey.ts'
import { untilStopped } from './signals.ts'
import { startReal } from './startReal.ts'

export async function startAll(options: { readonly data: string; readonly port: number }): Promise<void> {
  const folder = resolve(options.data)
  const startedAt = performance.now()
  mkdirSync(folder, { recursive: true })
  if (hasShortCut(process.env)) return startReal(folder, options.port)
  console.log('Starting the local world: two chains, real contracts, traders.')
  const world = await startWorld({
    folder: join(folder, 'world'),
    onProgress: line => console.log(`  ${line}`),
  })
  setAsideOldLog(folder, world)
  const file = join(folder, 'assay.yaml')
  writeFileSync(
    file,
    stringify(worldConfig(world, { port: options.port, database: join(folder, 'assay.db') })),
  )
  try {
    const config = loadConfig(file, process.env)
    const service = await startService({ config, logLevel: 'warn' })
    const key = await keyIn(join(folder, 'key'), config)
    console.log('Waiting for the first price.')
    const seconds = await untilPriced(service.url, key, world, startedAt)
    introduce(service.url, key, world, seconds, file)
    await untilStopped()
    console.log('\nStopping.')
    await service.close()
  } finally {
    await world.close()
  }
}

/** A log of blocks that a new world never had is of no use to it: it is kept, under another name. */
function setAsideOldLog(folder: string, world: LocalWorld): void {
  const database = join(folder, 'assay.db')
  if (!world.chains.some(chain => chain.isNew) || !existsSync(database)) return
  const aside = join(folder, `before-${new Date().toISOString().replace(/[:.]/g, '-')}`)
  mkdirSync(aside)
  for (const name of readdirSync(folder))
    if (name.startsWith('assay.db') || name === 'key') renameSync(join(folder, name), join(aside, name))
  console.log(`  The world is new; the log of the one before is in ${aside}.`)
}

const FIRST_PRICE_MS = 120_000

/** Seconds until the last token of the plan was evaluated. */
async function untilPriced(url: string, key: string, world: LocalWorld, startedAt: number): Promise<number> {
  const wanted = world.chains.map(({ plan }) => ({
    chainId: plan.chainId,
    token: plan.tokens.findLast(token => token.role === 'TOKEN')?.address,
  }))
  const untilMs = performance.now() + FIRST_PRICE_MS
  for (const { chainId, token } of wanted)
    for (;;) {
      const answer = await fetch(`${url}/v1/quote/token/${chainId}/${token}`, {
        headers: { authorization: `Bearer ${key}` },
      }).catch(() => null)
      if (answer?.status === 200) break
      if (performance.now() > untilMs)
        throw new Error(
          `chain ${chainId} has no price after ${FIRST_PRICE_MS / 1000} s; its health: ${url}/v1/chains/${chainId}/health`,
        )
      await new Promise(resolve => setTimeout(resolve, 250))
    }
  return (performance.now() - startedAt) / 1000
}

function introduce(url: string, key: string, world: LocalWorld, seconds: number, file: string): void {
  const example = world.chains[0]?.plan.tokens.find(token => token.role === 'TOKEN')
  const bearer = `-H "Authorization: Bearer ${key}"`
  console.log(`
Assay is up after ${seconds.toFixed(1)} s.

  Page     ${url}/
  API key  ${key}

Try it:

  curl -s ${bearer} ${url}/v1/chains
  curl -s ${bearer} ${url}/v1/quote/token/1/${example?.address.toLowerCase()}
  curl -s ${bearer} "${url}/v1/pools?chain_id=56&limit=2"

These prices come from the local world (its configuration: ${file}).
For real chains name their nodes and start again: ASSAY_RPC_1=https://… npm start

Ctrl-C stops everything; starting again goes on where it stood.`)
}
