/**
 * Answers computed on demand from the current state: they read, never write, and are never logged. They are
 * `COMPUTED` as of the tip, and may differ from the last record by changes that are too small to be re-published.
 */
import type { Pool } from './entities.ts'
import { type Address, idOf } from './chain/block.ts'
import { type Fraction, times } from './exact/fraction.ts'
import { asOfText } from './price/publish/compact.ts'
import { microusd } from './rules/hopCapacity.ts'
import { feeOf } from './rules/poolFee.ts'
import { evaluate, valueAssets } from './price/evaluate.ts'
import type { Edge } from './price/evaluation.ts'
import { type Moment, tipOf } from './price/moment.ts'
import { momentOf } from './price/momentOf.ts'
import { exactText } from './price/publish/exactText.ts'
import { poolStateText } from './price/publish/poolText.ts'
import type { QuoteText } from './price/publish/quote.ts'
import { quoteText } from './price/publish/quoteJson.ts'
import type { State } from './state.ts'
import { type Count, count, type Ms } from './units.ts'

export type QuoteNarrowing = {
  readonly maxHops: Count | null
  readonly minDepthUsd: Count | null
  readonly excludePools: readonly Address[]
}

/** The token's quote at this moment, narrowed if requested. */
export function computeTokenQuote(
  state: State,
  token: Address,
  atMs: Ms,
  narrowing: QuoteNarrowing | null,
): QuoteText {
  const { policy } = state.policyView
  const moment =
    narrowing === null
      ? momentOf(state, atMs)
      : momentOf(state, atMs, {
          policy: {
            ...policy,
            max_hops: lesser(narrowing.maxHops, policy.max_hops),
            min_depth_usd: greater(narrowing.minDepthUsd, policy.min_depth_usd),
          },
          excluded: new Set(narrowing.excludePools),
        })
  valueAssets(moment)
  return quoteText(state.setup.chainId, evaluate(moment, token), state.policyView.version, 'COMPUTED')
}

/** Narrowing never widens: the policy's own limit applies where it is stricter. */
const lesser = (asked: Count | null, limit: Count): Count => (asked !== null && asked < limit ? asked : limit)
const greater = (asked: Count | null, limit: Count): Count =>
  asked !== null && asked > limit ? asked : limit

/** Percent moves of the depth ladder, both ways. */
const LADDER = [1n, 2n, 5n, 10n]

/** Neither side has a price, so there is no value in dollars. */
export type PoolQuote =
  | { readonly outcome: 'quote'; readonly quote: object }
  | { readonly outcome: 'no_route'; readonly reason: string }

export function computePoolQuote(state: State, pool: Pool, atMs: Ms): PoolQuote {
  const moment = momentOf(state, atMs)
  valueAssets(moment)
  const edge = moment.edge(pool)
  // Without a feed no side has a price, which says nothing about the pool's routes.
  const isFeedGone = moment.feed.score === 0
  const sides = isFeedGone ? NO_DOLLARS : dollarsOf(moment, edge)
  if (edge.derived.marginal === null || sides === null)
    return { outcome: 'no_route', reason: edge.failure?.rule ?? 'NO_ACTIVE_LIQUIDITY' }
  const x = exactText(sides.from)
  const y = exactText(sides.to)
  return {
    outcome: 'quote',
    quote: {
      chain_id: state.setup.chainId,
      pool_address: pool.address,
      pool_id: pool.id,
      family: pool.terms.family,
      deployment_id: pool.deploymentId,
      fee_ppm: count(Number(feeOf(pool))),
      token0: { token_address: pool.token0, token_id: idOf(pool.token0), price: null },
      token1: { token_address: pool.token1, token_id: idOf(pool.token1), price: null },
      created_block: pool.createdBlock,
      state: poolStateText(edge),
      ratios: orientations(pool, edge),
      prices: pool.x === 0 ? { token0_usd: x, token1_usd: y } : { token0_usd: y, token1_usd: x },
      depth_ladder: ladder(pool, edge),
      source: 'COMPUTED',
      as_of: asOfText(tipOf(moment)),
      policy_version: state.policyView.version,
    },
  }
}

type Dollars = { readonly from: Fraction | null; readonly to: Fraction | null }
const NO_DOLLARS: Dollars = { from: null, to: null }

/**
 * The value of a unit of each side: one side by its own price, the other by this pool's ratio. Y comes first, as for
 * routes; a pool that no route may use still has dollars when only X is priced. Null when neither is priced.
 */
function dollarsOf(moment: Moment, { pool, derived: { ratio }, toUsd }: Edge): Dollars | null {
  const to = toUsd ?? priceOf(moment, pool.to)
  if (to !== null) return { from: ratio === null ? null : times(ratio, to), to }
  const from = priceOf(moment, pool.from)
  if (from === null) return null
  return { from, to: ratio === null ? null : times(from, { num: ratio.den, den: ratio.num }) }
}

function priceOf(moment: Moment, token: Address): Fraction | null {
  const evaluation = moment.valuations.get(token)?.evaluation ?? evaluate(moment, token)
  return evaluation.kind === 'PRICED' ? evaluation.price : null
}

/** Both orientations: the reverse is the exact reciprocal of the evidence, not an executable quote. */
function orientations(pool: Pool, { derived: { ratio: sold, marginal } }: Edge): object[] {
  const flip = (value: Fraction | null) => (value === null ? null : { num: value.den, den: value.num })
  return [
    { from: pool.from, to: pool.to, ...ratiosText(sold, marginal), reciprocal: false },
    { from: pool.to, to: pool.from, ...ratiosText(flip(sold), flip(marginal)), reciprocal: true },
  ]
}

const ratiosText = (ratio: Fraction | null, marginal: Fraction | null) => ({
  ratio: exactText(ratio),
  marginal: exactText(marginal),
})

/** Gross dollars that move the price by each step; null when the known ticks do not reach that far. */
function ladder(pool: Pool, { state, unitMicrousd }: Edge): object[] {
  const { marginal } = state
  return LADDER.map(percent => {
    const boundary = { up: { num: 100n + percent, den: 100n }, down: { num: 100n - percent, den: 100n } }
    const depth = pool.around.adapter.depth(pool.terms, state.amm, pool.x, boundary)
    const isKnown = !('reason' in depth) && marginal !== null && unitMicrousd !== null
    return {
      percent: count(Number(percent)),
      up_microusd: isKnown ? microusd(depth.up, unitMicrousd).toString() : null,
      down_microusd: isKnown
        ? microusd((depth.down * marginal.num) / marginal.den, unitMicrousd).toString()
        : null,
    }
  })
}
