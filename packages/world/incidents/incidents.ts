/** All incidents of the local world, and the one function that causes them. */
import type { LocalWorld, WorldChain } from '../local/localWorld.ts'
import { chainHalt } from './chainHalt.ts'
import { decimalsChange } from './decimalsChange.ts'
import { feedFreeze } from './feedFreeze.ts'
import { flash } from './flash.ts'
import type { Account, Aim, Incident } from './incident.ts'
import { lookAlike } from './lookAlike.ts'
import { multiBlock } from './multiBlock.ts'
import { oneSided } from './oneSided.ts'
import { reorg } from './reorg.ts'
import { rug } from './rug.ts'
import { stableDepeg } from './stableDepeg.ts'
import { thinPoolSpike } from './thinPoolSpike.ts'
import { trapFee } from './trapFee.ts'
import { valueImbalance } from './valueImbalance.ts'

export const INCIDENTS: readonly Incident[] = [
  rug,
  thinPoolSpike,
  flash,
  multiBlock,
  trapFee,
  valueImbalance,
  oneSided,
  stableDepeg,
  feedFreeze,
  decimalsChange,
  lookAlike,
  reorg,
  chainHalt,
]

export type IncidentWish = Aim & {
  readonly name: string
  /** Omitted, the world's first. */
  readonly chainId?: number
  /** Ends the incident instead of starting it. */
  readonly isEnd?: boolean
}

export function causeIncident(world: Pick<LocalWorld, 'chains'>, wish: IncidentWish): Promise<Account> {
  const chain = world.chains.find(({ plan }) => wish.chainId === undefined || plan.chainId === wish.chainId)
  if (chain === undefined) {
    const known = world.chains.map(({ plan }) => plan.chainId).join(', ')
    throw new Error(`the world has no chain ${wish.chainId}; it has ${known}`)
  }
  return incidentOn(chain, wish)
}

async function incidentOn(chain: WorldChain, wish: IncidentWish): Promise<Account> {
  const incident = INCIDENTS.find(({ name }) => name === wish.name)
  if (incident === undefined) {
    const known = INCIDENTS.map(({ name }) => name).join(', ')
    throw new Error(`there is no incident ${JSON.stringify(wish.name)}; there are ${known}`)
  }
  const act = wish.isEnd === true ? incident.end : incident.begin
  if (act === undefined) throw new Error(`${incident.name} has no duration and cannot be ended`)
  return chain.life.exclusively(async () => {
    const deed = await act(chain, wish)
    const { number, hash } = await chain.client.getBlock({ blockTag: 'latest' })
    return {
      incident: incident.name,
      chainId: chain.plan.chainId,
      pools: [],
      ...deed,
      block: { number: Number(number), hash },
    }
  })
}
