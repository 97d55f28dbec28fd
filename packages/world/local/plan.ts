/**
 * What a chain of the local world is planned to be: tokens, pools and feeds, at which price and size. Well-known
 * addresses are the real ones; long-tail tokens are invented.
 */
import type { Address } from 'viem'
import type { OddTokenName } from '../oddTokens.ts'

export type TokenPlan = {
  readonly symbol: string
  readonly decimals: number
  readonly usd: number
  readonly address: Address
  readonly role: 'STABLE' | 'ROUTING' | 'TOKEN'
  /** Where a stable's price feed stands. Left out, anywhere. */
  readonly feed?: Address
  /** Behind a proxy, so that its code can be replaced. */
  readonly isProxied?: boolean
  /** One of the tokens that behave oddly, in place of an ordinary one. */
  readonly odd?: OddTokenName
}
export type DeploymentPlan = {
  readonly id: string
  readonly family: 'amm_v2' | 'amm_v3' | 'amm_v3_pancake' | 'amm_algebra_v1' | 'amm_v4'
  /** Of v4: the manager. */
  readonly factory: Address
  /** Of a factory whose pools another contract makes. */
  readonly deployer?: Address
}

/** PLAIN is never called in a swap, FEE sets the fee of each, SWAP takes some of what it pays. */
export type HookClass = 'PLAIN' | 'FEE' | 'SWAP'
/** `usd` is the value of one side. A pool with ticks spreads it over a wide and a narrow band. */
export type PoolPlan = {
  readonly deployment: string
  readonly pair: readonly [string, string]
  readonly usd: number
  readonly feePpm?: number
  /** Of v4: the first of the pair is the native currency itself. */
  readonly isNative?: boolean
  /** Of v4. A look-up finds no such pool: it is made last, so that its creation is in what a new service walks. */
  readonly hook?: HookClass
}
export type ChainPlan = {
  readonly chainId: number
  readonly name: string
  /** Whole seconds, as block timestamps are: chains with faster blocks have one a second here. */
  readonly blockTimeS: number
  readonly deployments: readonly DeploymentPlan[]
  /** The first routing asset is the wrapped native one. */
  readonly tokens: readonly TokenPlan[]
  readonly pools: readonly PoolPlan[]
  readonly sequencerFeed?: Address
  /** Its node makes blocks as the OP stack does, and half of the trades come by deposits. */
  readonly isOpStack?: boolean
  /** At its usual address. Left out, whoever reads many values needs a call for each. */
  readonly hasMulticall3?: boolean
}

export function tokenOf(plan: ChainPlan, symbol: string): TokenPlan {
  const found = plan.tokens.find(token => token.symbol === symbol)
  if (found !== undefined) return found
  const known = plan.tokens.map(token => token.symbol).join(', ')
  throw new Error(`chain ${plan.chainId} has no token ${JSON.stringify(symbol)}; it has ${known}`)
}

/** Addresses of invented tokens say that they are: a55a, then a number. */
export const invented = (n: number): Address => `0x${(0xa55a_0000 + n).toString(16).padStart(40, '0')}`
