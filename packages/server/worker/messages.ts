/** The messages between the main thread and a chain's thread: plain data only. */
import type { Policy } from '@assay/engine'
import type { ChainConfig, CoverageSource } from '../config/config.ts'
import { Secret } from '../ops/secret.ts'
import type { Log } from '../ops/log.ts'
import type { Lease } from '../store/cluster.ts'
import type { ChainService, Work } from './chainService.ts'

export type Method = Exclude<keyof ChainService, 'chainId'>

export type Request = { readonly id: number; readonly method: Method; readonly args: readonly unknown[] }
export type Reply =
  | { readonly kind: 'reply'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly message: string }
  | { readonly kind: 'committed'; readonly last: number; readonly work: Work }
  | {
      readonly kind: 'log'
      readonly level: keyof Log
      readonly message: string
      readonly fields: Record<string, unknown>
    }
  | { readonly kind: 'started' }

/** A thread's configuration. A Secret cannot be cloned, so its text is sent and wrapped again on arrival. */
export type ThreadData = {
  readonly chain: Omit<ChainConfig, 'endpoints'> & {
    readonly endpoints: readonly { readonly name: string; readonly url: string }[]
  }
  readonly policy: Policy
  readonly coverage: readonly CoverageSource[]
  readonly storeAddress: string
  /** The lease this process holds for the chain, when several processes share the store. */
  readonly lease: Lease | null
}

export const toThread = (chain: ChainConfig): ThreadData['chain'] => ({
  ...chain,
  endpoints: chain.endpoints.map(({ name, url }) => ({ name, url: url.reveal() })),
})

export const fromThread = (chain: ThreadData['chain']): ChainConfig => ({
  ...chain,
  endpoints: chain.endpoints.map(({ name, url }) => ({ name, url: new Secret(url) })),
})
