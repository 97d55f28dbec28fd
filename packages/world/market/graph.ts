/**
 * The tokens and the pools between them: the shape of a factory, before any amount.
 *
 * Tokens come in a fixed order: stables, routing assets, then the long tail. Every token of the tail has a first
 * pool; the remaining pools go to the tokens that already have most.
 */
import type { Address } from '../../engine/chain/block.ts'
import type { Random } from '../random.ts'
import * as draw from './draw.ts'
import { drawAddress } from './identity.ts'
import {
  DECIMALS,
  EXTRA_EVEN_SHARE,
  EXTRA_EXPONENT,
  FAME_DEVIATION,
  FIRST_PARTNERS,
  LATER_SIZE,
  LOG10_PRICE,
  PARTNERS,
  SIZE_QUANTILES,
  STABLE_WEIGHTS,
  TIER_WEIGHTS,
} from './shape.ts'

export type Tier = (typeof TIER_WEIGHTS)[number][0]

export type MarketToken = {
  readonly address: Address
  readonly symbol: string
  readonly decimals: number
  readonly role: 'STABLE' | 'ROUTING' | 'TOKEN'
  /** The initial price; the tape moves its own copy. */
  readonly usd: number
  /** Dollars on one side of its main pool; 0 for a drained token. */
  readonly sizeUsd: number
}

/** The place of a pool: `tier` is null for v2. */
type Venue = { readonly deploymentId: string; readonly tier: Tier | null }

export type PoolPlan = Venue & {
  /** Indices in the list of tokens; `partner` is the token in which the other is priced. */
  readonly token: number
  readonly partner: number
  readonly sideUsd: number
  readonly isAnchor: boolean
}

type GraphOptions = {
  readonly pools: number
  readonly tokens: number
  readonly v3Share: number
  readonly drainedShare: number
  /** Every token that is not drained has at least this size. */
  readonly leastUsd: number
}

export const STABLES = 3
const ROUTING_ASSETS = 3
const CORE = STABLES + ROUTING_ASSETS
/** The index of the first routing asset, which nearly all tokens trade against. */
export const WRAPPED = CORE - ROUTING_ASSETS

/** The core of every market, with the sizes of a present-day chain. */
const CORE_TOKENS = [
  { symbol: 'USDX', decimals: 6, usd: 1, sizeUsd: 40e6 },
  { symbol: 'USDY', decimals: 6, usd: 1, sizeUsd: 30e6 },
  { symbol: 'USDZ', decimals: 18, usd: 1, sizeUsd: 10e6 },
  { symbol: 'WETH', decimals: 18, usd: 2_500, sizeUsd: 60e6 },
  { symbol: 'WBTC', decimals: 8, usd: 64_000, sizeUsd: 25e6 },
  { symbol: 'GOV', decimals: 18, usd: 0.85, sizeUsd: 8e6 },
] as const

const V2_MAIN: Venue = { deploymentId: 'v2-main', tier: null }
const V2_FORK: Venue = { deploymentId: 'v2-fork', tier: null }
const v3 = (tier: Tier): Venue => ({ deploymentId: 'v3-main', tier })

/** The share of the v2 pools; the fork copies popular ones. */
const FORK_SHARE = 0.3

/** `[token, partner, venue, million dollars on a side]`: each routing asset has 7 to 11 pools. */
const ANCHORS: readonly (readonly [number, number, Venue, number])[] = [
  [3, 0, V2_MAIN, 50],
  [3, 0, V2_FORK, 12],
  [3, 0, v3(100), 4],
  [3, 0, v3(500), 60],
  [3, 0, v3(3000), 25],
  [3, 1, V2_MAIN, 40],
  [3, 1, v3(500), 30],
  [3, 1, v3(3000), 15],
  [3, 2, V2_MAIN, 12],
  [3, 2, v3(500), 8],
  [3, 2, v3(3000), 5],
  [4, 0, V2_MAIN, 5],
  [4, 0, v3(500), 12],
  [4, 0, v3(3000), 8],
  [4, 1, v3(500), 6],
  [4, 3, V2_MAIN, 20],
  [4, 3, V2_FORK, 6],
  [4, 3, v3(500), 25],
  [4, 3, v3(3000), 20],
  [5, 0, V2_MAIN, 2],
  [5, 0, v3(500), 4],
  [5, 1, v3(3000), 3],
  [5, 3, V2_MAIN, 4],
  [5, 3, V2_FORK, 1],
  [5, 3, v3(500), 6],
  [5, 3, v3(3000), 5],
  [1, 0, v3(100), 30],
  [1, 0, V2_MAIN, 8],
  [2, 0, v3(100), 10],
]

/** Draws for one more pool before the market is considered as dense as possible. */
const MAX_DRAWS = 1_000

export function drawTokens(random: Random, options: GraphOptions): MarketToken[] {
  const core = CORE_TOKENS.map((token, at): MarketToken => {
    return { ...token, role: at < STABLES ? 'STABLE' : 'ROUTING', address: drawAddress(random) }
  })
  const tail = Array.from({ length: options.tokens - CORE }, (_, at): MarketToken => {
    const { mean, deviation, least, greatest } = LOG10_PRICE
    const log10 = Math.min(Math.max(mean + deviation * draw.normal(random), least), greatest)
    const isDrained = draw.isWithin(random, options.drainedShare)
    const sizeUsd = Math.max(draw.quantile(random, SIZE_QUANTILES), options.leastUsd)
    return {
      address: drawAddress(random),
      symbol: `T${at}`,
      decimals: draw.weighted(random, DECIMALS),
      role: 'TOKEN',
      usd: 10 ** log10,
      sizeUsd: isDrained ? 0 : sizeUsd,
    }
  })
  return [...core, ...tail]
}

/** Anchors first, then each token's first pool, then the others. */
export function drawPools(
  random: Random,
  tokens: readonly MarketToken[],
  options: GraphOptions,
): readonly PoolPlan[] {
  const tailSize = tokens.length - CORE
  const least = ANCHORS.length + tailSize
  if (options.pools < least) throw new RangeError(`${tokens.length} tokens need at least ${least} pools`)
  const plans = ANCHORS.map(
    ([token, partner, venue, millions]): PoolPlan => ({
      ...venue,
      token,
      partner,
      sideUsd: millions * 1e6,
      isAnchor: true,
    }),
  )
  const taken = new Set(plans.map(keyOf))
  const byFame = orderByFame(random, tokens)
  const fame = new draw.Zipf(byFame.length, EXTRA_EXPONENT)
  // The two routing assets that are nobody's first partner lead the hubs of the remaining pools.
  const hubs = [WRAPPED + 1, WRAPPED + 2, ...byFame]
  const hubRanks = new draw.Zipf(hubs.length, EXTRA_EXPONENT)

  const add = (token: number, { isV3, partnerKind }: Kind, isFirst: boolean): boolean => {
    const partner = drawPartner(random, partnerKind, () => hubs[hubRanks.draw(random)] as number)
    const plan = { ...drawVenue(random, isV3), token, partner, isAnchor: false }
    const key = keyOf(plan)
    if (token === partner || taken.has(key) || taken.has(keyOf({ ...plan, token: partner, partner: token })))
      return false
    taken.add(key)
    plans.push({ ...plan, sideUsd: drawSize(random, tokens, plan, isFirst) })
    return true
  }
  for (let token = CORE; token < tokens.length; token++) {
    const kind = drawKind(random, options.v3Share, FIRST_PARTNERS)
    repeat(() => add(token, kind, true), `a first pool for token ${token}`)
  }
  const extraPartners = sharesOfExtras(tailSize / (options.pools - ANCHORS.length))
  const drawToken = (): number =>
    draw.isWithin(random, EXTRA_EVEN_SHARE)
      ? CORE + draw.below(random, tailSize)
      : (byFame[fame.draw(random)] as number)
  while (plans.length < options.pools) {
    const kind = drawKind(random, options.v3Share, extraPartners)
    repeat(() => add(drawToken(), kind, false), `pool ${plans.length} of ${options.pools}`)
  }
  return plans
}

/** The tail, most popular first: roughly by size. */
function orderByFame(random: Random, tokens: readonly MarketToken[]): number[] {
  const fame = tokens.map(token => draw.logNormal(random, 1 + token.sizeUsd, FAME_DEVIATION))
  const places = tokens.map((_, place) => place).slice(CORE)
  return places.sort((a, b) => (fame[b] as number) - (fame[a] as number))
}

type PartnerKind = keyof typeof PARTNERS
type Shares = Readonly<Record<PartnerKind, number>>

/** The shares for later pools that give all pools together the partner distribution of a real factory. */
function sharesOfExtras(firstShare: number): Shares {
  const left = (all: number, first: number): number => Math.max(0, all - firstShare * first)
  return {
    wrapped: left(PARTNERS.wrapped, FIRST_PARTNERS.wrapped),
    stable: left(PARTNERS.stable, FIRST_PARTNERS.stable),
    other: left(PARTNERS.other, FIRST_PARTNERS.other),
  }
}

/** Decided before checking where there is room, so that a crowded area does not shift the shares. */
type Kind = { readonly isV3: boolean; readonly partnerKind: PartnerKind }

function drawKind(random: Random, v3Share: number, { wrapped, stable, other }: Shares): Kind {
  const partnerKind = draw.weighted<PartnerKind>(random, [
    ['wrapped', wrapped],
    ['stable', stable],
    ['other', other],
  ])
  return { isV3: draw.isWithin(random, v3Share), partnerKind }
}

function drawPartner(random: Random, kind: PartnerKind, drawHub: () => number): number {
  if (kind === 'wrapped') return WRAPPED
  return kind === 'stable' ? draw.weighted(random, STABLE_WEIGHTS) : drawHub()
}

function drawVenue(random: Random, isV3: boolean): Venue {
  if (isV3) return v3(draw.weighted(random, TIER_WEIGHTS))
  return draw.isWithin(random, FORK_SHARE) ? V2_FORK : V2_MAIN
}

/** A token's later pools are smaller than its first, and a pool is no larger than its smaller end allows. */
function drawSize(
  random: Random,
  tokens: readonly MarketToken[],
  { token, partner }: Pick<PoolPlan, 'token' | 'partner'>,
  isFirst: boolean,
): number {
  const size = Math.min((tokens[token] as MarketToken).sizeUsd, (tokens[partner] as MarketToken).sizeUsd)
  return isFirst ? size : size * Math.min(1, draw.logNormal(random, LATER_SIZE.median, LATER_SIZE.deviation))
}

const keyOf = ({ deploymentId, tier, token, partner }: Omit<PoolPlan, 'sideUsd'>): string =>
  `${deploymentId}/${tier}/${token}/${partner}`

function repeat(attempt: () => boolean, what: string): void {
  for (let drawn = 0; drawn < MAX_DRAWS; drawn++) if (attempt()) return
  throw new RangeError(`no room for ${what}`)
}
