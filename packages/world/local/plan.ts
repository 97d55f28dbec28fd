/**
 * The plan of a local chain: tokens, pools and feeds, with prices and sizes. Well-known addresses are the real ones;
 * long-tail tokens are invented.
 */
import type { Address } from 'viem'
import type { OddTokenName } from '../oddTokens.ts'

export type TokenPlan = {
  readonly symbol: string
  readonly decimals: number
  readonly usd: number
  readonly address: Address
  readonly role: 'STABLE' | 'ROUTING' | 'TOKEN'
  /** The address of a stable's price feed. Omitted, anywhere. */
  readonly feed?: Address
  /** Behind a proxy, so that its code can be replaced. */
  readonly isProxied?: boolean
  /** One of the tokens with odd behaviour, instead of an ordinary one. */
  readonly odd?: OddTokenName
}
export type DeploymentPlan = {
  readonly id: string
  readonly family: 'amm_v2' | 'amm_v3' | 'amm_v3_pancake' | 'amm_algebra_v1' | 'amm_v4'
  /** For v4, the manager. */
  readonly factory: Address
  /** For a factory whose pools are created by another contract. */
  readonly deployer?: Address
}

/** PLAIN is never called in a swap, FEE sets the fee of each, SWAP takes part of the output. */
export type HookClass = 'PLAIN' | 'FEE' | 'SWAP'
/** `usd` is the value of one side. A pool with ticks spreads it over a wide and a narrow band. */
export type PoolPlan = {
  readonly deployment: string
  readonly pair: readonly [string, string]
  readonly usd: number
  readonly feePpm?: number
  /** For v4: the first of the pair is the native currency itself. */
  readonly isNative?: boolean
  /**
   * For v4. A look-up cannot find such a pool: it is created last, so that its creation is in the blocks a new
   * service walks.
   */
  readonly hook?: HookClass
}
export type ChainPlan = {
  readonly chainId: number
  readonly name: string
  /** Whole seconds, like block timestamps: chains with faster blocks have one per second here. */
  readonly blockTimeS: number
  readonly deployments: readonly DeploymentPlan[]
  /** The first routing asset is the wrapped native one. */
  readonly tokens: readonly TokenPlan[]
  readonly pools: readonly PoolPlan[]
  readonly sequencerFeed?: Address
  /** Its node makes blocks like the OP stack, and half of its past trades arrived through deposits. */
  readonly isOpStack?: boolean
  /** At its usual address. Omitted, reading many values needs one call for each. */
  readonly hasMulticall3?: boolean
}

export function tokenOf(plan: ChainPlan, symbol: string): TokenPlan {
  const found = plan.tokens.find(token => token.symbol === symbol)
  if (found !== undefined) return found
  const known = plan.tokens.map(token => token.symbol).join(', ')
  throw new Error(`chain ${plan.chainId} has no token ${JSON.stringify(symbol)}; it has ${known}`)
}

/** Addresses of invented tokens are recognisable: a55a, then a number. */
export const invented = (n: number): Address => `0x${(0xa55a_0000 + n).toString(16).padStart(40, '0')}`
