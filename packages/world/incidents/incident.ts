/**
 * An incident: a named fault on a chain that happens the same way every time. It runs in the chain's lane, between
 * two rounds of trades, and reports its effect; some incidents can be ended.
 */
import type { Address, Hex } from 'viem'
import type { WorldChain } from '../local/localWorld.ts'

export type Aim = {
  /** A token or stable by symbol; omitted, a suitable one of the chain. */
  readonly token?: string
  /** For a reorganisation, in blocks. */
  readonly depth?: number
}

export type Account = {
  readonly incident: string
  readonly chainId: number
  readonly token: string | null
  /** The affected pools, or those it created. */
  readonly pools: readonly Address[]
  /** The head after it. */
  readonly block: { readonly number: number; readonly hash: Hex }
  /** What happened, in a sentence. */
  readonly what: string
}

/** The part of the account that an incident itself reports; the rest is the same for all. */
export type Deed = Pick<Account, 'token' | 'what'> & { readonly pools?: readonly Address[] }

export type Incident = {
  readonly name: string
  /** One line: what happens, and what it tests. */
  readonly about: string
  readonly begin: (chain: WorldChain, aim: Aim) => Promise<Deed>
  readonly end?: (chain: WorldChain, aim: Aim) => Promise<Deed>
}
