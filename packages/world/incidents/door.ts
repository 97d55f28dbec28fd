/** The part of a local world that an operator of its service can reach: its incidents, in the service's terms. */
import type { Address } from 'viem'
import type { LocalWorld } from '../local/localWorld.ts'
import { causeIncident, INCIDENTS, type IncidentWish } from './incidents.ts'

export const incidentDoor = (world: Pick<LocalWorld, 'chains'>) => ({
  incidents: INCIDENTS.map(({ name, about, end }) => ({ name, about, hasEnd: end !== undefined })),
  async cause(wish: IncidentWish) {
    const { token, pools, block, what } = await causeIncident(world, wish)
    return { token, pools: pools.map(pool => pool.toLowerCase() as Address), block, what }
  },
})
