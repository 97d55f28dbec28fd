/** Endpoints of a chain for work beside its feed, with connections of their own, so that neither delays the other. */
import type { Clock } from '../../ops/clock.ts'
import type { ChainConfig } from '../../config/config.ts'
import { limitsOf } from '../transport/connection.ts'
import { Endpoint } from './endpoint.ts'
import type { FeedLog } from '../feedLog.ts'
import { EndpointSet } from './endpointSet.ts'

export function openEndpoints(
  chain: ChainConfig,
  clock: Clock,
  log: FeedLog = () => {},
): { readonly endpoints: EndpointSet; readonly close: () => void } {
  const { chainId, genesisHash, checkpoint, proof } = chain
  const identity = { chainId, genesisHash, checkpoint }
  const limits = limitsOf(chain)
  const purpose = 'history'
  const all = chain.endpoints.map(
    ({ name, url }) => new Endpoint({ name, url, identity, proof, clock, log, limits, purpose }),
  )
  return {
    endpoints: new EndpointSet(all, clock),
    close: () => {
      for (const endpoint of all) endpoint.close()
    },
  }
}
