/**
 * The full token quote: the compact state and all of its inputs, route by route and hop by hop, so that a reader can
 * recompute it with nothing but the quote and its policy. Here is all of it but routes and hops, which `quoteJson.ts`
 * writes.
 */
import type { Address } from '../../chain/block.ts'
import type { CompactState } from '../../record.ts'
import type { OwnPast } from '../../rules/priceJump.ts'
import { devBps } from '../../rules/weightedMedian.ts'
import { type Count, type Ms, type Score, score, weaker } from '../../units.ts'
import { bpsText, compactOf } from './compact.ts'
import { disputesMember, usdFeedMember } from './disputeText.ts'
import { exactText } from './exactText.ts'
import type { Evaluation, Priced, Route, StableView } from '../evaluation.ts'
import { sellabilityText } from './sellabilityText.ts'
import { byWeight } from '../routes/routes.ts'

/** `COMPUTED` for an answer made on demand, `RETRIEVED` for the last record. */
export type QuoteSource = 'COMPUTED' | 'RETRIEVED'

export type QuoteText = CompactState & {
  readonly chain_id: Count
  readonly token: Address
  readonly source: QuoteSource
  readonly last_trade_ms: Ms | null
  readonly sellability: ReturnType<typeof sellabilityText>
  /** PRICED: the past that the price was compared with. */
  readonly own_past?: object | null
  /** UNPRICED: the candidates closest to a price, with the rule each failed. */
  readonly candidates?: readonly object[]
  readonly change?: null
  /** For a routing asset with a feed to compare with. */
  readonly usd_feed?: object | null
  /** For a stable that pools dispute. */
  readonly disputes?: readonly object[]
  readonly routes?: readonly object[]
  /** Full quotes of the routing assets used. */
  readonly routing_assets?: readonly QuoteText[]
}

/** Everything except the inputs. */
export function headText(
  chainId: Count,
  evaluation: Evaluation,
  policyVersion: string,
  source: QuoteSource,
): QuoteText {
  return {
    chain_id: chainId,
    token: evaluation.token,
    source,
    ...compactOf(evaluation, policyVersion),
    last_trade_ms: evaluation.own.lastTradeMs,
    sellability: sellabilityText(evaluation.sellability),
    ...(evaluation.kind === 'UNPRICED' ? {} : { own_past: ownPastText(evaluation.ownPast) }),
    // The engine keeps no history of records, so it does not know its own price an hour or a day ago.
    ...(evaluation.kind === 'UNPRICED' ? {} : { change: null, ...anchorMembers(evaluation) }),
  }
}

/** Disputes about the price of an anchor. */
const anchorMembers = ({ selected, stable, usdFeed }: Priced) =>
  selected === null ? disputesMember(stable) : usdFeedMember(usdFeed)

/** Qualified routes first, heaviest first; then failed routes, closest to a price first. */
export const inOrder = ({ routes, failed }: Priced): Route[] => [
  ...routes.toSorted(byWeight),
  ...failed.nearest,
]

function ownPastText(past: OwnPast | null): object | null {
  if (past === null) return null
  const { coveredMs, reference, marginalUsd } = past
  return {
    covered_ms: coveredMs,
    reference_usd: exactText(reference),
    marginal_usd: exactText(marginalUsd),
    deviation_bps: reference === null ? null : bpsText(devBps(marginalUsd, reference)),
  }
}

/** S_route = min(all edge scores, the scores of the routing assets it goes through). */
export function weakestOf({ edges, via }: Route): { readonly edges: Score; readonly asset: Score | null } {
  let edge = score(10)
  for (const each of edges) edge = weaker(edge, each.score)
  if (via === null) return { edges: edge, asset: null }
  let asset = score(10)
  for (let at: Route['via'] = via; at !== null; at = at.route.via) {
    const { evaluation } = at.asset
    asset = weaker(asset, evaluation.kind === 'PRICED' ? evaluation.score : score(0))
  }
  return { edges: edge, asset }
}

export const stableText = (stable: StableView) => ({
  token_address: stable.token,
  usd: exactText(stable.usd),
  source: stable.source,
  status: stable.status,
  updated_at_ms: stable.updatedAtMs,
  finality: stable.finality,
  score: stable.score,
  caps: stable.caps,
  ...disputesMember(stable),
})

/** The routing assets used, each once, in the order of their first use. */
export function assetsOf({ routes, failed }: Priced): Evaluation[] {
  const used = new Map<Address, Evaluation>()
  for (const { via } of [...routes, ...failed.nearest])
    if (via !== null && !used.has(via.asset.asset)) used.set(via.asset.asset, via.asset.evaluation)
  return [...used.values()]
}
