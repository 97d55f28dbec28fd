/** A pool's `state` in the wire format: its holdings, their value, and how far to trust them. */
import type { Holdings } from '../../amm/adapter.ts'
import { times } from '../../exact/fraction.ts'
import type { PoolStateText } from '../../record.ts'
import type { Pool, PoolState } from '../../entities.ts'
import { agreementText, bpsText } from './compact.ts'
import { microusd } from '../../rules/hopCapacity.ts'
import { exactText } from './exactText.ts'
import type { Edge, EdgeComponents } from '../evaluation.ts'
import { devBps } from '../../rules/weightedMedian.ts'

export function poolStateText(edge: Edge): PoolStateText {
  const { pool, state } = edge
  return {
    block_number: state.changed.number,
    block_hash: state.changed.hash,
    block_time_ms: state.changed.timeMs,
    verified_at_ms: edge.verifiedMs,
    finality: edge.finality,
    ...holdings(pool, state),
    from: pool.from,
    to: pool.to,
    marginal: exactText(edge.derived.marginal),
    evidence: evidenceText(edge),
    ...depthText(edge),
    score: edge.score,
    components: componentsText(edge),
    caps: edge.caps,
    ...pastText(state),
    ...backingText(state),
    reason: edge.failure?.rule ?? null,
    ...(state.verified
      ? {}
      : {
          differences: state.differences.map(each => ({
            field: each.field,
            event: each.event.toString(),
            computed: each.computed.toString(),
          })),
        }),
  }
}

export function holdings({ around, terms, token0, token1 }: Pool, { amm }: PoolState): Holdings & object {
  const { adapter } = around
  const held = adapter.holdings(amm)
  return adapter.shown === null ? held : { ...adapter.shown(terms, token0, token1), ...held }
}

export function evidenceText({ state, finality }: Edge) {
  const { evidence } = state
  if (evidence === null) return null
  return {
    kind: evidence.kind,
    amount_in: evidence.amountIn.toString(),
    amount_out: evidence.amountOut.toString(),
    block_number: evidence.block.number,
    block_hash: evidence.block.hash,
    transaction_hash: evidence.transactionHash,
    log_index: evidence.logIndex,
    observed_at_ms: evidence.block.timeMs,
    finality,
  }
}

/** Depth in microdollars, each value rounded down; null with its reason if unknown. */
export function depthText(edge: Edge) {
  const { state, unitMicrousd, capacity, averageY } = edge
  const { depth, depthY, marginal } = state
  if (depth === null || depthY === null || marginal === null)
    return { depth: null, depth_reason: edge.failure?.rule ?? 'DEPTH_UNKNOWN' }
  if (capacity === null || unitMicrousd === null || averageY === null)
    return { depth: null, depth_reason: edge.failure?.rule ?? 'ANCHOR_UNPRICED' }
  const usd = (amountY: bigint) => microusd(amountY, unitMicrousd).toString()
  return {
    depth: {
      up_microusd: usd(depth.up),
      down_microusd: usd((depth.down * marginal.num) / marginal.den),
      current_microusd: usd(depthY),
      ewma_microusd: usd(averageY),
      effective_microusd: capacity.toString(),
    },
  }
}

export function componentsText(edge: Edge) {
  const { components, state, capacity } = edge
  const { temporal, freshness } = components
  return {
    depth: { score: components.depth.score, l_eff: capacity?.toString() ?? null },
    freshness: { score: freshness.score, age_ms: freshness.ageMs, ttl_ms: freshness.ttlMs },
    agreement: agreementText(components.agreement),
    temporal: {
      score: temporal.score,
      covered_ms: temporal.coveredMs,
      median: exactText(medianOf(components, edge)),
      deviation_bps: deviationText(components, state),
    },
    feed: components.feed,
    state: components.state,
    ...(components.stable === null ? {} : { stable: components.stable }),
    ...coverageText(components.coverage),
  }
}

/** In whole tokens. */
export function medianOf({ temporal: { median } }: EdgeComponents, { derived: { scale } }: Edge) {
  return median === null || scale === null ? null : times(median, scale.whole)
}

export const deviationText = ({ temporal: { median } }: EdgeComponents, { marginal }: PoolState) =>
  median === null || marginal === null ? null : bpsText(devBps(marginal, median))

/** Empty for a pool whose past was never read. */
export function pastText({ past }: PoolState): object {
  if (past === null) return {}
  const { kind, readMs, isProven, times, tradedByMs } = past
  return {
    past: {
      kind,
      read_at_ms: readMs,
      is_proven: isProven,
      times,
      traded_by_ms: tradedByMs,
    },
  }
}

export function backingText({ backing }: PoolState): object {
  if (backing === undefined) return {}
  const { holdings, readMs, excessSinceMs } = backing
  const [of0, of1] = holdings
  return {
    backing: {
      balance0: of0.balance.toString(),
      balance1: of1.balance.toString(),
      against0: of0.against.toString(),
      against1: of1.against.toString(),
      read_at_ms: readMs,
      excess_since_ms: excessSinceMs,
    },
  }
}

export function coverageText(coverage: EdgeComponents['coverage']) {
  if (coverage === null) return {}
  const { score, anchorsMicrousd, externalMicrousd } = coverage
  return {
    coverage: {
      score,
      anchors_microusd: anchorsMicrousd.toString(),
      external_microusd: externalMicrousd?.toString() ?? null,
    },
  }
}
