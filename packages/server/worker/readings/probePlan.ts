/**
 * How to probe a token: the pool its price comes from, the path there from wrapped native over the deepest verified
 * pools, and the amount to spend. The probe must use the pool of the evidence; any other would describe another market.
 */
import { count, type Pool, poolsOf, type SellabilityReading, type State } from '@assay/engine'
import { MOST_HOPS, probeFamily, type ProbeHop } from '@assay/sdk/probe'
import type { ChainConfig } from '../../config/config.ts'
import type { Address } from '../../ops/hex.ts'

export type Probing = {
  readonly token: Address
  readonly pool: Pool
  readonly hops: readonly ProbeHop[]
  readonly path: SellabilityReading['path']
  readonly sizes: readonly [bigint, bigint]
}

/** Sizes of ordinary purchases, in microdollars. Tokens that limit amounts mostly set the limit between the two. */
const SMALL_MICROUSD = 10_000_000n
const LARGE_MICROUSD = 100_000_000n
const SIZE_RATIO = LARGE_MICROUSD / SMALL_MICROUSD
/** In a shallow pool, the probe buys no more than this share of its depth. */
const DEPTH_SHARE = 20n
/** The probe moves a quarter of the small purchase: fewer units than this leave nothing to move, or to tax. */
const LEAST_UNITS = 40n
/** Amounts used when wrapped native has no price. */
const UNPRICED_WEI = [10n ** 16n, 10n ** 17n] as const
const WEI = 10n ** 18n

/** Null while no pool prices the token; `NO_PATH` when the other side of its pool cannot be reached. */
export function probingOf(
  state: State,
  chain: Pick<ChainConfig, 'wrappedNative'>,
  token: Address,
): Probing | 'NO_PATH' | null {
  const pool = pricingPool(state, token)
  if (pool === null) return null
  const way = wayTo(state, chain.wrappedNative, pool.to)
  if (way === null) return 'NO_PATH'
  const pools = [...way, { pool, tokenIn: pool.to, tokenOut: token }]
  return {
    token,
    pool,
    hops: pools.map(hopOf),
    path: pools.map(({ pool: each }) => probedOf(each)),
    sizes: sizesOf(state, chain.wrappedNative, pool),
  }
}

/** The first hop of the published price; without a price, the deepest pool that has evidence. */
function pricingPool(state: State, token: Address): Pool | null {
  const compact = state.tokens.get(token)?.published?.compact
  const selected = compact?.state === 'PRICED' ? compact.selected?.pool_ids[0] : undefined
  const usable = poolsOf(state, token).filter(isUsable)
  return usable.find(({ id }) => id === selected) ?? deepest(usable)
}

const isUsable = ({ state, terms }: Pool): boolean =>
  state.verified && !state.isBeforeGap && state.evidence !== null && probeFamily(terms.family) !== null

type Step = { readonly pool: Pool; readonly tokenIn: Address; readonly tokenOut: Address }

/** Breadth first over stables and routing assets: the fewest hops, and the deepest pool of each pair. */
function wayTo(state: State, native: Address, goal: Address): readonly Step[] | null {
  const { stables, routingAssets } = state.setup
  const anchors = [...routingAssets, ...stables.map(({ token }) => token)]
  const ways = new Map<Address, readonly Step[]>([[native, []]])
  for (const [from, way] of ways) {
    if (from === goal) return way
    if (way.length >= MOST_HOPS - 1) continue
    for (const to of anchors) {
      const pool = ways.has(to) ? null : between(state, from, to)
      if (pool !== null) ways.set(to, [...way, { pool, tokenIn: from, tokenOut: to }])
    }
  }
  return null
}

function between({ index }: State, a: Address, b: Address): Pool | null {
  const pools = index.pairs.get(`${a}-${b}`) ?? index.pairs.get(`${b}-${a}`) ?? []
  return deepest(pools.filter(isUsable))
}

/** Compares pools by units even when their Y assets differ: any of them is acceptable. */
function deepest(pools: readonly Pool[]): Pool | null {
  return pools.reduce<Pool | null>(
    (best, pool) => (best === null || (pool.state.depthY ?? 0n) > (best.state.depthY ?? 0n) ? pool : best),
    null,
  )
}

function hopOf({ pool, tokenIn, tokenOut }: Step): ProbeHop {
  const { terms, address } = pool
  const family = probeFamily(terms.family)
  if (family === null) throw new Error(`the probe cannot trade with a pool of ${terms.family}`)
  const fee = 'fee' in terms && typeof terms.fee === 'object' ? terms.fee : null
  const hop = { family, tokenIn, tokenOut, fee }
  if (!('manager' in terms)) return { ...hop, pool: address }
  const { keyFee, tickSpacing, hooks, isNative, manager } = terms
  const key = { fee: Number(keyFee), tickSpacing, hooks, native: isNative ? pool.token0 : null }
  return { ...hop, pool: manager, key }
}

function probedOf({ address, terms, feePpm, token0, token1 }: Pool): SellabilityReading['path'][number] {
  const probed = { pool: address, family: terms.family, feePpm: count(Number(feePpm)) }
  if (!('manager' in terms)) return probed
  const { keyFee, tickSpacing, hooks, isNative, manager } = terms
  const sizes = { keyFee: count(Number(keyFee)), tickSpacing: count(tickSpacing) }
  return { ...probed, key: { manager, ...sizes, hooks, currency1: token1, token0, isNative } }
}

function sizesOf(state: State, native: Address, pool: Pool): readonly [bigint, bigint] {
  const wei = weiPerMicrousd(state, native)
  if (wei === null) return UNPRICED_WEI
  const depth = depthMicrousd(pool) ?? LARGE_MICROUSD * DEPTH_SHARE
  const most = depth / DEPTH_SHARE
  const large = most < LARGE_MICROUSD ? most : LARGE_MICROUSD
  const least = LEAST_UNITS * unitMicrousd(state, pool)
  const small = least > large / SIZE_RATIO ? least : large / SIZE_RATIO
  const spent = (microusd: bigint): bigint => (microusd * wei.num) / wei.den + 1n
  return [spent(small), spent(small > large ? small * 2n : large)]
}

function weiPerMicrousd(
  state: State,
  native: Address,
): { readonly num: bigint; readonly den: bigint } | null {
  const compact = state.tokens.get(native)?.published?.compact
  if (compact?.state !== 'PRICED') return null
  const { numerator, denominator } = compact.price_usd
  return { num: WEI * BigInt(denominator), den: 1_000_000n * BigInt(numerator) }
}

/** Value of one unit of the token, rounded up; 0 when unknown. */
function unitMicrousd(state: State, { from }: Pool): bigint {
  const token = state.tokens.get(from)
  const compact = token?.published?.compact
  const decimals = token?.decimals?.value ?? null
  if (compact?.state !== 'PRICED' || decimals === null) return 0n
  const { numerator, denominator } = compact.price_usd
  return (BigInt(numerator) * 1_000_000n) / (BigInt(denominator) * 10n ** BigInt(decimals))
}

function depthMicrousd({ published }: Pool): bigint | null {
  const depth = published?.state['depth'] as { readonly current_microusd?: string } | null | undefined
  return depth?.current_microusd === undefined ? null : BigInt(depth.current_microusd)
}
