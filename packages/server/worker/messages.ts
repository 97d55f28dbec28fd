/** What passes between the main thread and a chain's thread: plain data only. */
import type { Policy } from '@assay/engine'
import { type ChainConfig, type CoverageAsset, Secret } from '../ops/config.ts'
import type { LogLevel } from '../ops/log.ts'
import type { ChainService } from './chainService.ts'

type Method = Exclude<keyof ChainService, 'chainId'>

export type Request = { readonly id: number; readonly method: Method; readonly args: readonly unknown[] }
export type Reply =
  | { readonly kind: 'reply'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly message: string }
  | { readonly kind: 'committed'; readonly last: number; readonly tookMs: number }
  | { readonly kind: 'started' }

/** A thread's configuration; a Secret does not survive the copy, so its text crosses and is wrapped again. */
export type ThreadData = {
  readonly chain: Omit<ChainConfig, 'endpoints'> & {
    readonly endpoints: readonly { readonly name: string; readonly url: string }[]
  }
  readonly policy: Policy
  readonly coverage: readonly CoverageAsset[]
  readonly storeAddress: string
  readonly logLevel: LogLevel
}

export const toThread = (chain: ChainConfig): ThreadData['chain'] => ({
  ...chain,
  endpoints: chain.endpoints.map(({ name, url }) => ({ name, url: url.reveal() })),
})

export const fromThread = (chain: ThreadData['chain']): ChainConfig => ({
  ...chain,
  endpoints: chain.endpoints.map(({ name, url }) => ({ name, url: new Secret(url) })),
})
