/**
 * Long-tail tokens of a chain in one line each. The shape states how a token reaches dollars, from several deep pools
 * down to a single thin one, so that every pricing rule has a case.
 */
import { type DeploymentPlan, type HookClass, invented, type PoolPlan, type TokenPlan } from './plan.ts'

/**
 * DEEP: three pools at two deployments. SPIKY: the same plus a thin one. SPLIT: a routing asset and a stable.
 * LONE_V3, LONE_V2, LONE_V4: one pool. PROXIED: SPLIT, with a token behind a proxy. NATIVE_V4, PANCAKE, ALGEBRA: a
 * deep pool of that family (for v4 with the native currency itself) and one of v2 beside it. HOOK_…: one pool of v4
 * with such a hook.
 */
export type Shape =
  | 'DEEP'
  | 'SPIKY'
  | 'SPLIT'
  | 'PROXIED'
  | 'LONE_V3'
  | 'LONE_V2'
  | 'LONE_V4'
  | 'NATIVE_V4'
  | 'PANCAKE'
  | 'ALGEBRA'
  | `HOOK_${HookClass}`

/** `usd` is the token's price, `size` the value of one side of its first pool. */
export type TailToken = readonly [symbol: string, decimals: number, usd: number, shape: Shape, size: number]

export type Anchors = {
  /** The first is the deepest. */
  readonly stables: readonly [string, string]
  readonly routing: readonly [string, string]
  readonly deployments: readonly DeploymentPlan[]
}

const FEE = { low: 500, pancake: 2500, middle: 3000, high: 10_000 }
/** One side of a thin pool, in dollars. */
const THIN = 20_000

export function tailTokens(rows: readonly TailToken[], firstNumber: number): TokenPlan[] {
  return rows.map(([symbol, decimals, usd, shape], at) => ({
    symbol,
    decimals,
    usd,
    address: invented(firstNumber + at),
    role: 'TOKEN',
    ...(shape === 'PROXIED' ? { isProxied: true } : {}),
  }))
}

/** On a chain without a v3 factory, its second v2 deployment takes that role. */
export function tailPools(rows: readonly TailToken[], anchors: Anchors): PoolPlan[] {
  const of = (family: DeploymentPlan['family']) =>
    anchors.deployments.filter(each => each.family === family).map(({ id }) => id)
  const [[v3], [v2 = '', other = v2]] = [of('amm_v3'), of('amm_v2')]
  const one = (family: DeploymentPlan['family'], partner: string, symbol: string, usd: number) => ({
    deployment: of(family)[0] ?? '',
    pair: [partner, symbol] as const,
    usd,
  })
  const [stable, secondStable] = anchors.stables
  const [native, secondNative] = anchors.routing
  const wide = (partner: string, symbol: string, usd: number, feePpm: number): PoolPlan =>
    v3 === undefined
      ? { deployment: other, pair: [partner, symbol], usd }
      : { deployment: v3, pair: [partner, symbol], usd, feePpm }
  const plain = (partner: string, symbol: string, usd: number): PoolPlan => ({
    deployment: v2,
    pair: [partner, symbol],
    usd,
  })
  return rows.flatMap(([symbol, , , shape, size], at) => {
    const isOdd = at % 2 === 1
    switch (shape) {
      case 'DEEP':
      case 'SPIKY': {
        const deep = [
          wide(native, symbol, size, FEE.middle),
          plain(native, symbol, size * 2),
          wide(isOdd ? secondStable : stable, symbol, size / 3, FEE.high),
        ]
        return shape === 'DEEP' ? deep : [...deep, plain(stable, symbol, THIN)]
      }
      case 'SPLIT':
      case 'PROXIED':
        return [plain(native, symbol, size), wide(stable, symbol, size / 2, isOdd ? FEE.middle : FEE.low)]
      case 'LONE_V3':
        return [wide(isOdd ? stable : secondNative, symbol, size, FEE.middle)]
      case 'LONE_V4':
        return [{ ...one('amm_v4', stable, symbol, size), feePpm: FEE.middle }]
      case 'NATIVE_V4':
        return [
          { ...one('amm_v4', native, symbol, size), feePpm: FEE.middle, isNative: true },
          plain(stable, symbol, size / 2),
        ]
      case 'PANCAKE':
        return [
          { ...one('amm_v3_pancake', native, symbol, size), feePpm: FEE.pancake },
          plain(stable, symbol, size / 2),
        ]
      case 'ALGEBRA':
        return [one('amm_algebra_v1', native, symbol, size), plain(stable, symbol, size / 2)]
      case 'HOOK_PLAIN':
      case 'HOOK_FEE':
      case 'HOOK_SWAP':
        return [
          {
            ...one('amm_v4', stable, symbol, size),
            feePpm: FEE.middle,
            hook: shape.slice('HOOK_'.length) as HookClass,
          },
        ]
      case 'LONE_V2':
        return [plain(isOdd ? stable : native, symbol, size)]
    }
  })
}
