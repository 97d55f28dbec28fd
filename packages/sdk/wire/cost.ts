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
  from: describe('The token that goes in.', Address),
  to: Address,
  swaps: describe(
    'In the order in which they are made.',
    array(object({ amount_in: Unsigned, amount_out: Unsigned })),
  ),
  amount_back: describe(
    'What selling all that came out gives of `from`, if nobody has traded in the pool meanwhile.',
    Unsigned,
  ),
})

const Move = object({
  direction: known(['UP', 'DOWN']),
  bps: Count,
  reason: describe(
    'Why there is no answer: the price is not believed at that score as it is, or no plan was found.',
    nullable(known(['LOW_SCORE', 'NOT_FOUND'])),
  ),
  price_usd: describe('What would be published.', nullable(ExactValue)),
  score: nullable(Score),
  capital_usd: describe('What goes into the pools, rounded up to the microdollar.', nullable(Dollars)),
  loss_usd_quiet: describe(
    'What of it does not come back where nobody trades meanwhile: fees and slippage of the way there and back. What plans are compared by.',
    nullable(Dollars),
  ),
  loss_usd_arbitraged: describe(
    'What is lost where others bring the pools back in every block, at no cost of gas, and the plan is repeated until it is believed.',
    nullable(Dollars),
  ),
  arbitraged_reason: describe(
    'NOT_BELIEVED: while the pools are brought back in every block the price is not believed at that score.',
    nullable(known(['NOT_BELIEVED'])),
  ),
  hold_blocks: describe(
    'Blocks after the one of the plan through which nobody may trade back.',
    nullable(Count),
  ),
  hold_ms: describe('The same as time; 0 where the price is believed at once.', nullable(Ms)),
  plan: describe('All in one block, in this order.', array(Pushed)),
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
  pushed_at_ms: describe('The time of the block in which plans are carried out: the next one.', Ms),
  expires_at_ms: nullable(Ms),
  as_of: AsOf,
  policy_version: string(),
  moves: array(Move),
})
export type Cost = Static<typeof Cost>
