/**
 * A market of any size from a seed: tokens, pools with their liquidity, and their chain. It needs no node and no
 * contract, and still every event verifies, because all states evolve by the adapters' own rules.
 *
 * The same options give the same market. `bringUp` has the inputs that introduce it to an engine, `Tape` the blocks
 * that follow.
 */
import type { ChainSetup } from '../../engine/setup.ts'
import { count, ms } from '../../engine/units.ts'
import { Random } from '../random.ts'
import { ChainClock } from './chainClock.ts'
import * as draw from './draw.ts'
import { drawPools, drawTokens, type MarketToken, type PoolPlan, STABLES } from './graph.ts'
import { drawAddress } from './identity.ts'
import { startV2, startV3 } from './liquidity.ts'
import { DRAINED_SHARE } from './shape.ts'
import type { Tradable } from './trade.ts'

export type MarketOptions = {
  readonly seed: number
  /** Includes three stables and three routing assets. */
  readonly tokens: number
  /** Includes about thirty anchor pools. */
  readonly pools: number
  readonly chainId?: number
  readonly v3Share?: number
  readonly blockMs?: number
  readonly startMs?: number
  /** Share of the tokens that nobody can trade any more. */
  readonly drainedShare?: number
  /** The least value on a side of the first pool, for tokens that are not drained. */
  readonly leastUsd?: number
}

export type MarketPool = Tradable & {
  /** Indices of token0 and token1 in the list of tokens. */
  readonly places: readonly [number, number]
  readonly sideUsd: number
  /** Between stables and routing assets only. */
  readonly isAnchor: boolean
  readonly createdMs: number
  readonly lastTradeMs: number
}

export type Market = {
  readonly seed: number
  readonly setup: ChainSetup
  readonly tokens: readonly MarketToken[]
  /** Anchors first. */
  readonly pools: readonly MarketPool[]
  readonly clock: ChainClock
}

const DAY_MS = 86_400_000
const HEARTBEAT_MS = DAY_MS
const GRACE_MS = 3_600_000

/** The time of the first block, unless the caller gives another. */
const START_MS = 1_750_000_000_000

/** How far two pools of a token differ initially, as the deviation of a logarithm: less than a fee. */
const PRICE_NOISE = 0.001

export function createMarket(options: MarketOptions): Market {
  const { seed, chainId = 1, blockMs = 12_000, startMs = START_MS } = options
  const graph = {
    tokens: options.tokens,
    pools: options.pools,
    v3Share: options.v3Share ?? 0.4,
    drainedShare: options.drainedShare ?? DRAINED_SHARE,
    leastUsd: options.leastUsd ?? 0,
  }
  const root = new Random(seed)
  const tokens = drawTokens(root.stream('tokens'), graph)
  const plans = drawPools(root.stream('pools'), tokens, graph)
  const amounts = root.stream('amounts')
  return {
    seed,
    setup: {
      chainId: count(chainId),
      blockTimeMs: ms(blockMs),
      stables: tokens.slice(0, STABLES).map(token => ({
        token: token.address,
        feed: { heartbeatMs: ms(HEARTBEAT_MS), graceMs: ms(GRACE_MS) },
      })),
      routingAssets: tokens.filter(token => token.role === 'ROUTING').map(token => token.address),
      hasSequencer: false,
    },
    tokens,
    pools: plans.map(plan => startPool(amounts, tokens, plan, startMs)),
    clock: new ChainClock(seed, startMs, blockMs),
  }
}

function startPool(
  random: Random,
  tokens: readonly MarketToken[],
  plan: PoolPlan,
  startMs: number,
): MarketPool {
  const token = tokens[plan.token] as MarketToken
  const partner = tokens[plan.partner] as MarketToken
  const isToken0 = token.address < partner.address
  const [token0, token1] = isToken0 ? [token, partner] : [partner, token]
  const noise = plan.isAnchor ? 1 : Math.exp(PRICE_NOISE * draw.normal(random))
  const prices = { unit0Usd: noise * unitUsd(token0), unit1Usd: unitUsd(token1) }
  const born = {
    address: drawAddress(random),
    deploymentId: plan.deploymentId,
    token0: token0.address,
    token1: token1.address,
  }
  const common = {
    places: isToken0 ? ([plan.token, plan.partner] as const) : ([plan.partner, plan.token] as const),
    sideUsd: plan.sideUsd,
    isAnchor: plan.isAnchor,
    ...drawAges(random, plan.sideUsd, startMs),
  }
  if (plan.tier === null) {
    const start = startV2(random, plan.sideUsd, prices)
    return { born: { ...born, fee: { family: 'amm_v2', ...start.terms.fee } }, ...start, ...common }
  }
  const start = startV3(random, plan.tier, plan.sideUsd, prices, plan.isAnchor)
  const { feePpm, tickSpacing } = start.terms
  return { born: { ...born, fee: { family: 'amm_v3', feePpm, tickSpacing } }, ...start, ...common }
}

/** Dollars for one atomic unit. */
export const unitUsd = ({ usd, decimals }: MarketToken): number => usd / 10 ** decimals

/** A month to three years old; large pools traded minutes ago, drained ones months ago. */
function drawAges(random: Random, sideUsd: number, startMs: number) {
  const ageMs = draw.logUniform(random, 30 * DAY_MS, 1_000 * DAY_MS)
  const usualMs = sideUsd > 0 ? (10_000 / (1 + sideUsd)) * DAY_MS : 90 * DAY_MS
  const quietMs = Math.min(ageMs, draw.logNormal(random, usualMs, 1))
  return { createdMs: Math.floor(startMs - ageMs), lastTradeMs: Math.floor(startMs - quietMs) }
}
