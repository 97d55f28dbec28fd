/**
 * The cost of faking a price: GET /v1/cost. For each move of the published price, the cheapest plan found that makes
 * the service publish it at `least_score` under its own rules. This is an upper bound: cheaper attacks may exist.
 */
import { AsOf } from './block.ts'
import { SCORE_LABELS } from './confidence.ts'
import { Address, ChainId, Id } from './identifier.ts'
import { Count, ExactValue, Ms, PlainDecimal, Score, Unsigned } from './quantity.ts'
import {
  array,
  describe,
  enumeration,
  known,
  literal,
  nullable,
  object,
  type Static,
  string,
} from './schema.ts'

const Dollars = PlainDecimal

const Pushed = object({
  pool_id: Id,
  pool_address: Address,
  from: describe('The token paid in.', Address),
  to: Address,
  swaps: describe('In order of execution.', array(object({ amount_in: Unsigned, amount_out: Unsigned }))),
  amount_back: describe(
    'The amount of `from` that selling the whole output returns, if nobody else trades in the pool first.',
    Unsigned,
  ),
})

const Move = object({
  direction: known(['UP', 'DOWN']),
  bps: Count,
  reason: describe(
    'Why there is no result: the current price does not reach that score, or no plan was found.',
    nullable(known(['LOW_SCORE', 'NOT_FOUND'])),
  ),
  price_usd: describe('The price that would be published.', nullable(ExactValue)),
  score: nullable(Score),
  capital_usd: describe('The value paid into the pools, rounded up to the microdollar.', nullable(Dollars)),
  loss_usd_quiet: describe(
    'The part that is not recovered if nobody else trades: fees and slippage both ways. Plans are compared by it.',
    nullable(Dollars),
  ),
  loss_usd_arbitraged: describe(
    'The loss if others restore the pools in every block, gas costs excluded, and the plan is repeated until the price is believed.',
    nullable(Dollars),
  ),
  arbitraged_reason: describe(
    'NOT_BELIEVED: while the pools are restored in every block, the price does not reach that score.',
    nullable(known(['NOT_BELIEVED'])),
  ),
  hold_blocks: describe('Blocks after that of the plan in which nobody may trade back.', nullable(Count)),
  hold_ms: describe('The same as a duration; 0 if the price is believed at once.', nullable(Ms)),
  plan: describe('Executed in one block, in this order.', array(Pushed)),
})

/** The 200 response of GET /v1/cost. */
export const Cost = object({
  chain_id: ChainId,
  token: Address,
  source: literal('COMPUTED'),
  note: string(),
  price_usd: ExactValue,
  confidence: object({ score: Score, label: enumeration(SCORE_LABELS) }),
  least_score: describe('The score at which a move counts as believed.', Score),
  pushed_at_ms: describe('The time of the block in which plans are executed: the next one.', Ms),
  expires_at_ms: nullable(Ms),
  as_of: AsOf,
  policy_version: string(),
  moves: array(Move),
})
export type Cost = Static<typeof Cost>
