/** The dependencies of the API's resources. Each resource names those it uses as its `Needs`. */
import type { Policy } from '@assay/engine'
import type { Access } from '../../access/access.ts'
import type { ClientAddresses } from '../../access/clientAddress.ts'
import type { FailureThrottle } from '../../access/failureThrottle.ts'
import type { Limiter } from '../../access/rateLimit.ts'
import type { Clock } from '../../ops/clock.ts'
import type { ChainConfig, Config } from '../../config/config.ts'
import type { Log } from '../../ops/log.ts'
import type { Store } from '../../store/port.ts'
import type { Hub } from '../../stream/hub.ts'
import type { Roster } from '../../stream/roster.ts'
import type { Sending } from '../../webhooks/attempt.ts'
import type { Backfills, ChainService } from '../../worker/chainService.ts'
import type { WorldControl } from '../worldControl.ts'
import { RequestError } from './apiError.ts'
import type { Feeds } from '../views/feeds.ts'
import type { Metrics } from './metrics.ts'
import type { QuoteCache } from '../views/quoteCache.ts'
import type { Settings } from '../settings.ts'
import type { SingleFlight } from './singleFlight.ts'

export type ServedChain = {
  readonly config: ChainConfig
  /** Null while the chain's worker is down. */
  service(): ChainService | null
}

export type HttpContext = {
  readonly config: Config
  readonly store: Store
  readonly access: Access
  readonly limit: Limiter
  readonly failures: FailureThrottle
  readonly addresses: ClientAddresses
  readonly hub: Hub
  readonly quotes: QuoteCache
  /** The state of each chain's feed, as this node sees it. */
  readonly feeds: Pick<Feeds, 'health' | 'gone' | 'feed' | 'returns'>
  readonly flights: SingleFlight
  readonly settings: Settings
  readonly metrics: Metrics
  /** Applies a policy to every chain, now and after a restart of its thread. */
  readonly adoptPolicy: (policy: Policy) => Promise<void>
  readonly backfills: Backfills
  /** Sends webhook messages, and is notified when a webhook was changed. */
  readonly webhooks: { readonly sending: Sending; changed(): void }
  /** The open streams. */
  readonly roster: Roster
  readonly clock: Clock
  readonly log: Log
  readonly chains: ReadonlyMap<number, ServedChain>
  readonly pageSecret: Uint8Array
  readonly cursorSecret: Uint8Array
  /** The folder of the console bundle; null serves none. */
  readonly consoleFolder: string | null
  /** The local world of its chains; null for real ones. */
  readonly world: WorldControl | null
  /** Whether this node can serve, with the reasons why not. */
  readonly isReady: () => { readonly ready: boolean; readonly reasons: readonly string[] }
}

export function servedChain({ chains }: Pick<HttpContext, 'chains'>, chainId: number): ServedChain {
  const chain = chains.get(chainId)
  if (chain === undefined)
    throw new RequestError(404, `chain ${chainId} is not served; served are ${[...chains.keys()].join(', ')}`)
  return chain
}
