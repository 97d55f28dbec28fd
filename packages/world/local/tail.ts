/**
 * Long-tail tokens of a chain in one line each. The shape says how a token reaches dollars, from several deep
 * pools down to a single thin one, so that every rule of pricing has someone to meet.
 */
import { type DeploymentPlan, invented, type PoolPlan, type TokenPlan } from './plan.ts'

/**
 * DEEP: three pools at two deployments. SPIKY: the same and a thin one. SPLIT: a routing asset and a stable.
 * LONE_V3, LONE_V2: one pool. PROXIED: SPLIT, with a token behind a proxy.
 */
export type Shape = 'DEEP' | 'SPIKY' | 'SPLIT' | 'PROXIED' | 'LONE_V3' | 'LONE_V2'

/** `usd` is the token's price, `size` the value of one side of its first pool. */
export type TailToken = readonly [symbol: string, decimals: number, usd: number, shape: Shape, size: number]

export type Anchors = {
  /** The first is the deepest. */
  readonly stables: readonly [string, string]
  readonly routing: readonly [string, string]
  readonly deployments: readonly DeploymentPlan[]
}

const FEE = { low: 500, middle: 3000, high: 10_000 }
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

/** Where a chain has no v3 factory, its second v2 deployment takes that part. */
export function tailPools(rows: readonly TailToken[], anchors: Anchors): PoolPlan[] {
  const v3 = anchors.deployments.find(({ family }) => family === 'amm_v3')?.id
  const [v2 = '', other = v2] = anchors.deployments
    .filter(({ family }) => family === 'amm_v2')
    .map(({ id }) => id)
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
      case 'LONE_V2':
        return [plain(isOdd ? stable : native, symbol, size)]
    }
  })
}
