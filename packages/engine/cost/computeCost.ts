/**
 * The answer to "what would it cost to fake this price?", computed from the current state, in wire format. It
 * proceeds move by move, so that the caller can do other work in between: its inputs were copied at the start.
 */
import type { Address } from '../chain/block.ts'
import type { Priced } from '../price/evaluation.ts'
import { asOfText } from '../price/publish/compact.ts'
import { exactText } from '../price/publish/exactText.ts'
import { label } from '../rules/label.ts'
import type { State } from '../state.ts'
import type { Ms } from '../units.ts'
import { BELIEVED } from './belief.ts'
import { CostToMove, type Found, isBelievable, type Move, MOVES } from './cost.ts'
import { Rehearsal } from './rehearsal.ts'
import { inputOf, outputOf, type Push } from './push.ts'

export type CostAnswer =
  | {
      readonly outcome: 'cost'
      /** The answer without its moves. */
      readonly head: object
      /** One answer per move, each computed when it is requested. */
      readonly moves: Iterable<object>
    }
  /** A stable's price is that of its feed: no pool moves it. */
  | { readonly outcome: 'is_stable' }
  | { readonly outcome: 'unpriced'; readonly reason: string }

const NOTE = 'the cheapest plans found: an upper bound, cheaper ones may exist'

export function computeCost(state: State, token: Address, atMs: Ms): CostAnswer {
  const cost = costToMove(state, token, atMs)
  const { moment, evaluation } = cost.present
  if (moment.stable(token) !== null) return { outcome: 'is_stable' }
  if (evaluation.kind === 'UNPRICED') return { outcome: 'unpriced', reason: evaluation.reason }
  return {
    outcome: 'cost',
    head: {
      chain_id: state.setup.chainId,
      token,
      source: 'COMPUTED',
      note: NOTE,
      price_usd: exactText(evaluation.price),
      confidence: { score: evaluation.score, label: label(evaluation.score) },
      least_score: BELIEVED,
      pushed_at_ms: cost.rehearsal.startMs,
      expires_at_ms: evaluation.expiresAtMs,
      as_of: asOfText(evaluation.asOf),
      policy_version: state.policyView.version,
    },
    moves: movesOf(cost, evaluation),
  }
}

export const costToMove = (state: State, token: Address, atMs: Ms): CostToMove =>
  new CostToMove(new Rehearsal(state, token, atMs), atMs)

function* movesOf(cost: CostToMove, priced: Priced): Generator<object> {
  for (const move of MOVES)
    yield isBelievable(priced)
      ? moveText(move, cost.of(move, priced), 'NOT_FOUND')
      : moveText(move, null, 'LOW_SCORE')
}

const moveText = ({ isUp, bps }: Move, found: Found | null, reason: string): object => ({
  direction: isUp ? 'UP' : 'DOWN',
  bps,
  reason: found === null ? reason : null,
  price_usd: exactText(found?.price ?? null),
  score: found?.score ?? null,
  capital_usd: dollarsText(found?.capital ?? null),
  loss_usd_quiet: dollarsText(found?.loss ?? null),
  loss_usd_arbitraged: dollarsText(found?.lossRestored ?? null),
  arbitraged_reason: found?.lossRestored === null ? 'NOT_BELIEVED' : null,
  hold_blocks: found?.holdBlocks ?? null,
  hold_ms: found?.holdMs ?? null,
  plan: found?.pushes.map(pushText) ?? [],
})

const pushText = (push: Push): object => ({
  pool_id: push.pool.id,
  pool_address: push.pool.address,
  from: inputOf(push),
  to: outputOf(push),
  swaps: push.swaps.map(({ amountIn, amountOut }) => ({
    amount_in: amountIn.toString(),
    amount_out: amountOut.toString(),
  })),
  amount_back: push.amountBack.toString(),
})

/** Whole microdollars as dollars in plain decimal. Null stays null. */
export function dollarsText(microusd: bigint | null): string | null {
  if (microusd === null) return null
  const cents = (microusd % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '')
  return cents === '' ? `${microusd / 1_000_000n}` : `${microusd / 1_000_000n}.${cents}`
}
