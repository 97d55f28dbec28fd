/** Helpers with which `chains.ts` describes a chain of the local world. */
import type { Address } from 'viem'
import type { ChainPlan, DeploymentPlan, PoolPlan, TokenPlan } from './plan.ts'
import { type Anchors, type TailToken, tailPools, tailTokens } from './tail.ts'

export const factory = (
  id: string,
  family: DeploymentPlan['family'],
  address: Address,
  deployer?: Address,
): DeploymentPlan => ({
  id,
  family,
  factory: address,
  ...(deployer === undefined ? {} : { deployer }),
})
export const stable = (symbol: string, decimals: number, address: Address, feed: Address): TokenPlan => ({
  symbol,
  decimals,
  usd: 1,
  address,
  role: 'STABLE',
  feed,
})
export const routing = (symbol: string, decimals: number, usd: number, address: Address): TokenPlan => ({
  symbol,
  decimals,
  usd,
  address,
  role: 'ROUTING',
})

type Chain = Pick<
  ChainPlan,
  'chainId' | 'name' | 'blockTimeS' | 'deployments' | 'sequencerFeed' | 'isOpStack'
> & {
  readonly anchors: readonly TokenPlan[]
  /** Pools between stables and routing assets. */
  readonly anchorPools: readonly PoolPlan[]
  readonly tail: readonly TailToken[]
  /** The number of the first invented token. */
  readonly first: number
}

export function chain({ anchors, anchorPools, tail, first, ...rest }: Chain): ChainPlan {
  const symbols = (role: TokenPlan['role']) =>
    anchors.filter(token => token.role === role).map(token => token.symbol) as unknown as Anchors['stables']
  const named = {
    stables: symbols('STABLE'),
    routing: symbols('ROUTING'),
    deployments: rest.deployments,
  }
  return {
    ...rest,
    hasMulticall3: true,
    tokens: [...anchors, ...tailTokens(tail, first)],
    pools: [...anchorPools, ...tailPools(tail, named)],
  }
}

/** Both stables and the second routing asset around the native one: every price of a chain rests on these pools. */
export function anchorPools(
  [usd, usd2]: readonly [string, string],
  [native, second]: readonly [string, string],
  v3: string | null,
  [v2, other]: readonly [string, string],
  size: number,
): PoolPlan[] {
  const wide = (pair: readonly [string, string], value: number, feePpm: number): PoolPlan =>
    v3 === null ? { deployment: other, pair, usd: value } : { deployment: v3, pair, usd: value, feePpm }
  return [
    wide([usd, native], size, 500),
    ...(v3 === null ? [] : [wide([usd, native], size / 3, 3000)]),
    wide([usd2, native], size / 2, 500),
    { deployment: v2, pair: [usd, native], usd: size * 3 },
    { deployment: v2, pair: [usd2, native], usd: size },
    wide([usd, second], size / 3, 3000),
    wide([native, second], size / 2, 500),
    { deployment: v2, pair: [native, second], usd: size / 2 },
  ]
}
