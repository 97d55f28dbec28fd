/** The meaning of each cap for a reader, in the words of docs/CONCEPTS.md. The compiler checks that none is missing. */
import type { CAP_CODES } from '@assay/sdk'

export const CAP_WORDS: Readonly<Record<(typeof CAP_CODES)[number], string>> = {
  SINGLE_POOL_PAIR: 'only one pool trades this pair',
  SINGLE_SOURCE: 'one pool carries the whole price',
  SINGLE_DEPLOYMENT: 'all sources belong to one deployment',
  NO_INDEPENDENT_CONSENSUS: 'sources do not agree independently',
  DISSENT: 'a pool outside the vote has a very different price',
  INSUFFICIENT_HISTORY: 'not followed long enough to compare with the past',
  HISTORY_UNREAD: 'not followed before, and its last 35 minutes could not be read',
  HISTORY_SHORT: 'not followed before, and its last 35 minutes could be read only in part',
  NO_RECENT_TRADE: 'no trade for a long time',
  MAGNITUDE_JUMP: 'it just moved by orders of magnitude',
  PRICE_JUMP: 'far from the median of its own pools over the last hour',
  STABLE_DEPEG: 'the stable is off its peg',
  STABLE_STALE: "the stable's feed is old",
  STABLE_NOMINAL: 'the stable is assumed to be one dollar, without a feed',
  STABLE_SUSPENDED: 'the stable is suspended',
  STABLE_DISPUTED: "pools contradict the stable's feed",
  ANCHOR_DISPUTED: 'the asset it goes through deviates from its own feed',
  COVERAGE_UNKNOWN: 'no recent depth of other markets to compare with',
  UNSELLABLE: 'simulated sales failed at two sizes, in a later block too',
  SELL_RESTRICTED: 'simulated sales failed, although sales by others were seen within a day',
  TRANSFER_TAX: 'part of a sale or a transfer does not arrive',
  SELLABILITY_UNKNOWN: 'whether it can be sold is not known',
  UNBACKED: 'a pool does not hold the tokens it accounts for',
  HOOK_FEE: 'a hook sets the fee of its pool, or may refuse swaps',
}
