/** The dollar feed of a routing asset at one moment, and its effect on the price from the pools. */
import type { Address } from '../../chain/block.ts'
import type { Fraction } from '../../exact/fraction.ts'
import { anchorDispute } from '../../rules/anchorDispute.ts'
import { FOREVER, type Timed } from '../../rules/timed.ts'
import type { AssetFeedView } from '../evaluation.ts'
import type { Moment } from '../moment.ts'

const NONE: Timed<undefined> = { value: undefined, untilMs: FOREVER }

/** `undefined` for a token without a feed to compare with. */
export function assetFeed(
  { state, policy, atMs }: Moment,
  token: Address,
  marginalUsd: () => Fraction,
): Timed<AssetFeedView | undefined> {
  const terms = state.setup.assetFeeds?.[token]
  if (terms === undefined || policy.revision === 1) return NONE
  const answer = state.stables.get(token)?.reading ?? null
  const { value, untilMs } = anchorDispute(marginalUsd(), { answer, terms }, policy, atMs)
  return { value: value === null ? null : { ...value, terms }, untilMs }
}
