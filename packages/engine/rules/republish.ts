/**
 * Whether a token is published again. The last record *is* its price. The record is replaced at once when the token's
 * own hops, score, caps or state change. When only an anchor has moved, it is replaced once the move is large enough
 * (R-publish-6).
 */
import type { CompactPriced, CompactState, PublishedToken } from '../record.ts'
import type { Evaluation, Priced } from '../price/evaluation.ts'
import { type Ms, ms } from '../units.ts'
import { isSameCaps } from './reasons.ts'
import { FOREVER, type Timed } from './timed.ts'

/** The inputs of the rule, computed only when they decide. */
export type Looked = {
  readonly atMs: Ms
  readonly ttlMs: Ms
  readonly policyVersion: string
  readonly republish: { readonly interval_ms: Ms }
  /** The token's own hops changed, or every token is evaluated. */
  readonly isOwn: boolean
  /** Blocks that this step orphaned. */
  readonly orphaned: ReadonlySet<string>
  /** A reader would see no difference except the time of evaluation. */
  readonly isSameShown: (last: CompactPriced, next: Priced) => boolean
  /** An anchor has moved since the token was published with it. */
  readonly hasAnchorMoved: (published: PublishedToken) => boolean
}

const NO: Timed<boolean> = { value: false, untilMs: FOREVER }
const YES: Timed<boolean> = { value: true, untilMs: FOREVER }

export function isPublished(
  published: PublishedToken | null,
  next: Evaluation,
  looked: Looked,
): Timed<boolean> {
  if (published === null || isRevoked(published.compact, next, looked.orphaned)) return YES
  const last = published.compact
  if (last.state === 'UNPRICED' || next.kind === 'UNPRICED')
    return last.state === 'UNPRICED' && next.kind === 'UNPRICED' && last.reason === next.reason ? NO : YES
  if (last.confidence.score !== next.score || !isSameCaps(last.confidence.caps, next.caps)) return YES
  if (last.policy_version !== looked.policyVersion) return YES
  if (looked.isOwn && !(isSamePrice(last, next) && looked.isSameShown(last, next))) return YES
  if (isRenewal(last, next, looked)) return YES
  if (!looked.hasAnchorMoved(published) || isSamePrice(last, next)) return NO
  const readyMs = ms(last.evaluated_at_ms + looked.republish.interval_ms)
  return looked.atMs >= readyMs ? YES : { value: false, untilMs: readyMs }
}

/**
 * The last record rested on a block that is no longer on our chain, and it did not report the same missing price as
 * now.
 */
function isRevoked(last: CompactState, next: Evaluation, orphaned: ReadonlySet<string>): boolean {
  if (orphaned.size === 0 || !orphaned.has(last.as_of.block_hash)) return false
  return last.state === 'PRICED' || next.kind === 'PRICED' || last.reason !== next.reason
}

/** Avoids computing the exact price: two equal prices agree to 18 digits and as doubles. */
function isNearPrice(last: CompactPriced, { selected }: Priced): boolean {
  if (selected === null) return true
  const shown = Number(last.price_usd.display)
  return !(Math.abs(shown - selected.approx) > shown * 2 ** -40)
}

const isSamePrice = (last: CompactPriced, next: Priced): boolean =>
  isNearPrice(last, next) &&
  (last.selected?.route_id ?? null) === (next.selected?.id ?? null) &&
  last.price_usd.numerator === next.price.num.toString() &&
  last.price_usd.denominator === next.price.den.toString()

/** Quiet re-verification moves the expiry. Publish it before readers treat the old one as past. */
function isRenewal(last: CompactPriced, next: Priced, { atMs, ttlMs }: Looked): boolean {
  if (last.expires_at_ms === null || next.expiresAtMs === null) return false
  return next.expiresAtMs > last.expires_at_ms && last.expires_at_ms - atMs < ttlMs / 2
}
