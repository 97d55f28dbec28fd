/**
 * Disputes of anchors in the wire format, with the values and pools they were found from, so that a reader can
 * reproduce them.
 */
import type { AssetFeedView, DisputeParty, StableView, ViewedDispute } from '../evaluation.ts'
import { bpsText } from './compact.ts'
import { exactText } from './exactText.ts'

/** As a member of a quote: omitted if the asset has no feed to compare with, null while the feed is silent. */
export const usdFeedMember = (feed: AssetFeedView | undefined) =>
  feed === undefined ? {} : { usd_feed: feed === null ? null : usdFeedText(feed) }

/** As a member of a stable: omitted when there is no dispute. */
export const disputesMember = ({ disputes }: StableView) =>
  disputes.length === 0 ? {} : { disputes: disputes.map(disputeText) }

const usdFeedText = ({ usd, updatedAtMs, terms, deviationBps }: NonNullable<AssetFeedView>) => ({
  usd: exactText(usd),
  updated_at_ms: updatedAtMs,
  heartbeat_ms: terms.heartbeatMs,
  grace_ms: terms.graceMs,
  deviation_bps: bpsText(deviationBps),
})

const disputeText = (dispute: ViewedDispute) => ({
  x: partyText(dispute.x),
  y: partyText(dispute.y),
  market: exactText(dispute.market),
  deviation_bps: bpsText(dispute.deviationBps),
  cap: dispute.cap,
  pools: dispute.pools.map(({ id, median, weight, averageMicrousd }) => ({
    pool_id: id,
    median: exactText(median),
    l_eff_y: weight.toString(),
    average_microusd: averageMicrousd.toString(),
  })),
})

const partyText = ({ token, usd, source }: DisputeParty) => ({
  token_address: token,
  usd: exactText(usd),
  source,
})
