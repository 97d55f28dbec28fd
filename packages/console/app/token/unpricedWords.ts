/** Why a token has no price, as a sentence continued after the code. The compiler checks that no code is missing. */
import type { UNPRICED_REASONS } from '@assay/sdk'

export const UNPRICED_WORDS: Readonly<Record<(typeof UNPRICED_REASONS)[number], string>> = {
  NO_ROUTE: 'no pool of enough depth leads from it to a stable',
  NO_POOL: 'no listed factory has a pool with it',
  DORMANT: 'not requested for a week; a request resumes it',
  ROUTE_EXPIRED: 'its evidence has grown too old',
  FEED: 'the chain cannot be followed right now',
  REORG: 'the block behind the price is no longer part of the chain',
  ANCHOR_UNPRICED: 'the asset it is traded against has no price itself',
  STABLE_SUSPENDED: 'the stable it depends on is suspended',
  DECIMALS: 'its decimals cannot be relied on',
  POLICY: 'the policy in force does not allow it',
  OPERATOR: 'an operator paused its chain or removed it',
  POOL_ORPHANED: 'its pool is no longer part of the chain',
}
