/**
 * An incident: something that goes wrong on a chain, by name, the same way every time. It begins in the chain's
 * lane, between two rounds of trades, and says what it did; some can be ended.
 */
import type { Address, Hex } from 'viem'
import type { WorldChain } from '../local/localWorld.ts'

export type Aim = {
  /** A token or stable by symbol; left out, one of the chain's that suits. */
  readonly token?: string
  /** Of a reorganisation, in blocks. */
  readonly depth?: number
}

export type Account = {
  readonly incident: string
  readonly chainId: number
  readonly token: string | null
  /** The pools it happened to, or those it made. */
  readonly pools: readonly Address[]
  /** The head after it. */
  readonly block: { readonly number: number; readonly hash: Hex }
  /** What happened, in a sentence. */
  readonly what: string
}

/** What an incident itself says; the rest of the account is the same for all. */
export type Deed = Pick<Account, 'token' | 'what'> & { readonly pools?: readonly Address[] }

export type Incident = {
  readonly name: string
  /** One line: what happens, and what it puts to the test. */
  readonly about: string
  readonly begin: (chain: WorldChain, aim: Aim) => Promise<Deed>
  readonly end?: (chain: WorldChain, aim: Aim) => Promise<Deed>
}
