/** The wire codes explained in a sentence each, for a reader without the documentation. */
import type {
  CAP_CODES,
  EXCLUSIONS,
  HEALTH_REASONS,
  REJECTION_RULES,
  UNPRICED_REASONS,
} from '@assay/sdk/wire'

type Words<Codes extends readonly string[]> = Readonly<Record<Codes[number], string>>

const UNPRICED: Words<typeof UNPRICED_REASONS> = {
  REORG: 'The block behind the price is no longer part of the chain.',
  ROUTE_EXPIRED: 'The price has passed its expiry and nothing newer is known.',
  NO_ROUTE: 'No accepted path of pools leads from the token to a stable.',
  FEED: "The chain's feed is gone or silent, so none of its prices is valid.",
  ANCHOR_UNPRICED: 'The asset the token trades against has no price itself.',
  STABLE_SUSPENDED: 'The stable that the price depends on is suspended.',
  DECIMALS: 'The decimals of the token could not be verified.',
  POLICY: "The operator's pricing policy has changed.",
  OPERATOR: 'The operator has removed the token or paused the chain.',
  POOL_ORPHANED: 'A pool behind the price was removed by a reorganisation.',
  NO_POOL: 'No pool of the token was found at the listed factories.',
  DORMANT: 'The token was not requested for a long time, so it is not followed; a request resumes it.',
}

const CAPS: Words<typeof CAP_CODES> = {
  SINGLE_POOL_PAIR: 'Only one pool trades this pair.',
  SINGLE_SOURCE: 'One pool carries the whole price.',
  SINGLE_DEPLOYMENT: 'All sources are pools of one factory.',
  NO_INDEPENDENT_CONSENSUS: 'The sources do not agree independently.',
  DISSENT: 'A pool outside the vote has a very different price.',
  INSUFFICIENT_HISTORY: 'Not followed long enough to compare with the recent past.',
  HISTORY_UNREAD: "The pool's history could not be read.",
  HISTORY_SHORT: "The pool's history could be read only in part.",
  NO_RECENT_TRADE: 'No trade of a useful size for a long time.',
  MAGNITUDE_JUMP: 'The price has just moved by orders of magnitude.',
  PRICE_JUMP: 'The price is far from the median of its own pools over the last hour.',
  STABLE_DEPEG: 'The stable is off its peg.',
  STABLE_STALE: "The stable's dollar feed is old.",
  STABLE_NOMINAL: 'The stable is assumed to be one dollar, without a feed.',
  STABLE_SUSPENDED: 'The stable is suspended.',
  STABLE_DISPUTED: "Pools contradict the stable's dollar feed.",
  ANCHOR_DISPUTED: 'The asset that the price goes through deviates from its own dollar feed.',
  HOOK_FEE: 'A hook sets the fee of the pool or is called at each swap, and may refuse it.',
  COVERAGE_UNKNOWN: 'There is no recent depth of other markets to compare with.',
  UNSELLABLE: 'A simulated purchase and sale failed, in a later block too.',
  SELL_RESTRICTED: 'A simulated sale fails, although others sold it within a day.',
  TRANSFER_TAX: 'A share of every sale or transfer does not arrive.',
  SELLABILITY_UNKNOWN: 'It is unknown whether it can be sold.',
  UNBACKED: 'The pool does not hold the tokens it accounts for.',
}

const RULES: Words<typeof REJECTION_RULES> & Words<typeof EXCLUSIONS> = {
  FEE_TOO_HIGH: 'The fee of the pool is above the limit.',
  DECIMALS_UNVERIFIED: 'The decimals of a token are not verified.',
  DECIMALS_CHANGED: 'A token returned different decimals than before.',
  STATE_UNVERIFIED: 'The state of the pool does not follow from its events.',
  NO_ACTIVE_LIQUIDITY: 'The pool has no liquidity at its price.',
  DEPTH_UNKNOWN: 'The depth of the pool is not known.',
  EVIDENCE_TOO_COARSE: 'Too shallow, or too few decimals, for a sale that rounding does not distort.',
  VALUE_IMBALANCE: 'The pool is far from the majority, or from itself in the other direction.',
  ANCHOR_UNPRICED: 'The asset on the other side has no price.',
  STABLE_SUSPENDED: 'The stable on the other side is suspended.',
  BELOW_MIN_DEPTH: 'The averaged depth is below the minimum.',
  EXPIRED: 'The state of the pool is too old.',
  FEED: "The chain's feed is gone.",
  NO_ANCHOR: 'The other side is neither a stable nor a routing asset.',
  CIRCULAR: 'The path would price an asset in terms of itself.',
  TOO_MANY_HOPS: 'The path has too many pools.',
  TOO_MANY_ROUTES: 'There are more paths than the limit.',
  NO_WEIGHT: 'The path carries no weight.',
  SCORE_ZERO: 'The path scores 0.',
  TOO_LARGE: 'The exact value has more digits than the limit.',
  HOOK_UNSUPPORTED: 'A hook adds amounts of its own to the swaps of the pool.',
  UNSUPPORTED_FAMILY: 'Pools of this kind are not priced.',
  IMMATERIAL: 'Too little weight to take part in the vote.',
  OUTLIER: 'Too far from the other sources.',
}

const FEED: Words<typeof HEALTH_REASONS> = {
  HALTED: 'The chain was reorganised below a final block and is halted.',
  PAUSED: 'The operator has paused the chain.',
  WORKER_SILENT: 'The worker of the chain is silent.',
  NO_ENDPOINT: 'No node of the right chain answers.',
  NO_VERIFIED_HEAD: 'No block could be verified yet.',
  REBASED: 'The chain was started again at its head.',
  BEHIND: 'Blocks are processed late.',
  BLOCK_REFUSED: 'A block was refused by every node.',
  HEAD_OLD: 'The newest verified block is old.',
  CHAIN_STALLED: 'The chain makes no blocks.',
  HEAD_UNCONFIRMED: 'Only one of several nodes knows the newest block.',
  NO_PROOF: 'Nothing proves that the logs are complete.',
  FINALITY_STALLED: 'Blocks do not become final.',
  CLOCK: 'The clock of the machine is wrong.',
  FINALITY_BY_DEPTH: 'Finality is determined by depth.',
}

const said = (words: Readonly<Record<string, string>>, code: string): string =>
  words[code] ?? 'This code is unknown here; see the documentation of the service.'

export const unpricedWords = (code: string): string => said(UNPRICED, code)
export const capWords = (code: string): string => said(CAPS, code)
export const ruleWords = (code: string): string => said(RULES, code)
export const feedWords = (code: string): string => said(FEED, code)
