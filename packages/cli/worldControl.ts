/**
 * A running local world can be spoken to: its process listens on a socket in the data folder, for its owner alone, and
 * `assay world incident` asks there.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { askControl, openControl } from '@assay/server/config'
import { causeIncident, type IncidentWish, INCIDENTS, type LocalWorld } from '@assay/world'

/** Two blocks of the slowest chain, and the round of trades before them. */
const ANSWER_MS = 90_000

/** The socket is `world.sock` beside the folder `world`. */
const socketIn = (folder: string): string => join(folder, 'world')

/** Throws when another process already runs a world in this folder. */
export async function refuseSecond(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  if ((await askControl(socketIn(folder), { command: 'ping' })) !== null)
    throw new Error(`a world already runs in ${folder}: stop it first, or choose another folder with --data`)
}

export function listenForIncidents(world: LocalWorld, folder: string): Promise<{ close(): Promise<void> }> {
  return openControl(socketIn(folder), async request => {
    if (request['command'] === 'ping') return {}
    if (request['command'] !== 'incident')
      throw new Error(`a world does not know the command ${JSON.stringify(request['command'])}`)
    return causeIncident(world, request['wish'] as IncidentWish)
  })
}

type Options = {
  readonly data: string
  readonly chain?: number
  readonly token?: string
  readonly depth?: number
  readonly end?: boolean
  readonly json?: boolean
}

export async function incident(name: string, options: Options): Promise<void> {
  const folder = resolve(options.data)
  const wish: IncidentWish = {
    name,
    ...(options.chain === undefined ? {} : { chainId: options.chain }),
    ...(options.token === undefined ? {} : { token: options.token }),
    ...(options.depth === undefined ? {} : { depth: options.depth }),
    ...(options.end === true ? { isEnd: true } : {}),
  }
  const account = await askControl(socketIn(folder), { command: 'incident', wish }, ANSWER_MS)
  if (account === null)
    throw new Error(`no world runs in ${folder}: start one with npm start, or name its folder with --data`)
  if (options.json === true) {
    console.log(JSON.stringify(account))
    return
  }
  const { chainId, what, pools, block } = account as Awaited<ReturnType<typeof causeIncident>>
  console.log(`chain ${chainId}, block ${block.number}: ${what}`)
  for (const pool of pools) console.log(`  pool ${pool.toLowerCase()}`)
}

export function incidents(): void {
  const width = Math.max(...INCIDENTS.map(({ name }) => name.length))
  for (const { name, about, end } of INCIDENTS)
    console.log(`${name.padEnd(width)}  ${about}${end === undefined ? '' : ' [--end]'}`)
}
