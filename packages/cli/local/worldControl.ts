/**
 * Controls a running local world: its process listens on a socket in the data folder, accessible to its owner alone,
 * and `assay world incident` connects there.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { askControl, openControl } from '@assay/server/config'
import { type Account, causeIncident, type IncidentWish, type LocalWorld } from '@assay/world'

/** Two blocks of the slowest chain, and the round of trades before them. */
const ANSWER_MS = 90_000

/** The socket is `world.sock` next to the folder `world`. */
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

/** The outcome of the incident; null when no world runs in this folder. */
export async function askForIncident(folder: string, wish: IncidentWish): Promise<Account | null> {
  return (await askControl(socketIn(folder), { command: 'incident', wish }, ANSWER_MS)) as Account | null
}
