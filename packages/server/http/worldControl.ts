/** What a local world, which the service does not know itself, lets an operator do. */
import type { CausedIncident } from '@assay/sdk/wire'

export type WorldControl = {
  readonly incidents: readonly {
    readonly name: string
    readonly about: string
    readonly hasEnd: boolean
  }[]
  /** Resolves when the incident is in a block. */
  cause(wish: {
    readonly name: string
    readonly chainId: number
    readonly token?: string
    readonly depth?: number
    readonly isEnd: boolean
  }): Promise<Pick<CausedIncident, 'token' | 'pools'> & { readonly what: string; readonly block: Block }>
}
type Block = NonNullable<CausedIncident['block']>
