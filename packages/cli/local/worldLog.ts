/**
 * Compares the log of a service with the local world before serving it. If the world lost blocks that the log
 * contains, by a crash or because it was recreated, a new epoch begins and every earlier cursor is refused.
 */
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type LogPosition, readPositions, startNextEpoch } from '@assay/server/config'
import type { LocalWorld, WorldChain } from '@assay/world'

/** The action taken, as a sentence; null when the world has every block in the log. */
export async function matchLog(database: string, world: LocalWorld): Promise<string | null> {
  if (!existsSync(database)) return null
  const { epoch, positions } = await readPositions(
    database,
    world.chains.map(({ plan }) => plan.chainId),
  )
  const lost = { tip: [] as LogPosition[], base: [] as LogPosition[] }
  for (const position of positions) {
    const chain = world.chains.find(({ plan }) => plan.chainId === position.chainId)
    if (chain === undefined || (await hasBlock(chain, position.tip.hash))) continue
    lost[(await hasBlock(chain, position.baseHash)) ? 'tip' : 'base'].push(position)
  }
  if (lost.base.length > 0) {
    const aside = setAside(database)
    const next = await startNextEpoch(database, epoch)
    return `${named(lost.base)} no longer has the blocks of the log: the log and its key are kept in ${aside}, and a new one begins as epoch ${next}.`
  }
  if (lost.tip.length === 0) return null
  const next = await startNextEpoch(database, epoch)
  return `${named(lost.tip)} is behind the log, as after a crash: the log continues as epoch ${next}, and records of lost blocks are retracted.`
}

async function hasBlock({ client }: WorldChain, hash: string): Promise<boolean> {
  const found: unknown = await client.request({
    method: 'eth_getBlockByHash',
    params: [hash, false],
  } as never)
  return found !== null
}

const named = (positions: readonly LogPosition[]): string =>
  `The world's chain ${positions.map(({ chainId, tip }) => `${chainId} (block ${tip.number})`).join(', ')}`

/** A log of blocks that the world does not have is useless to it, so it is kept under another name. */
function setAside(database: string): string {
  const folder = dirname(database)
  const aside = join(folder, `before-${new Date().toISOString().replace(/[:.]/g, '-')}`)
  mkdirSync(aside)
  for (const name of readdirSync(folder))
    if (name.startsWith(basename(database)) || name === 'key')
      renameSync(join(folder, name), join(aside, name))
  return aside
}
