/**
 * What is known about whether a token can be sold (R-sell-4): null for a stable or a routing asset, which are not
 * probed.
 */
import type { Address } from '../../chain/block.ts'
import { NOT_YET } from '../../rules/sellability.ts'
import type { Evaluation } from '../evaluation.ts'
import type { Moment } from '../moment.ts'

export function sellabilityOf(moment: Moment, token: Address): Evaluation['sellability'] {
  const { state } = moment
  if (moment.stable(token) !== null || state.setup.routingAssets.includes(token)) return null
  return state.tokens.get(token)?.sellability ?? NOT_YET
}
