/**
 * The answer to "what would I get?", computed from the current state, in wire format. Like any computed answer it
 * reads, never writes, and is never logged.
 */
import type { Address } from '../chain/block.ts'
import type { Fraction } from '../exact/fraction.ts'
import * as ratio from '../exact/ratio.ts'
import { evaluate, valueAssets } from '../price/evaluate.ts'
import type { Evaluation, Priced } from '../price/evaluation.ts'
import { momentOf } from '../price/momentOf.ts'
import { asOfText, bpsText } from '../price/publish/compact.ts'
import { exactText } from '../price/publish/exactText.ts'
import { sellabilityHead } from '../price/publish/sellabilityText.ts'
import { label } from '../rules/label.ts'
import type { State } from '../state.ts'
import type { Ms } from '../units.ts'
import { type Exit, exitOf, type Sale, unitOf } from './exit.ts'
import type { Plan } from './plan.ts'

/** Sizes in whole microdollars at the published price, or in units of the token. */
export type Sizes =
  | { readonly in: 'microusd'; readonly values: readonly bigint[] }
  | { readonly in: 'units'; readonly values: readonly bigint[] }

export type ExitAnswer =
  | { readonly outcome: 'exit'; readonly exit: object }
  /** A stable is the asset that others are sold for. */
  | { readonly outcome: 'is_stable' }
  | { readonly outcome: 'unpriced'; readonly reason: string }

export function computeExit(state: State, token: Address, atMs: Ms, sizes: Sizes): ExitAnswer {
  const moment = momentOf(state, atMs)
  if (moment.stable(token) !== null) return { outcome: 'is_stable' }
  valueAssets(moment)
  const evaluation: Evaluation = moment.valuations.get(token)?.evaluation ?? evaluate(moment, token)
  if (evaluation.kind === 'UNPRICED') return { outcome: 'unpriced', reason: evaluation.reason }
  const unit = unitOf(state, evaluation)
  const amounts = sizes.in === 'units' ? sizes.values : sizes.values.map(value => worthOf(value, unit))
  const { sellability } = evaluation
  const { sales, largest } = exitOf(state, evaluation, amounts, BigInt(sellability?.sellTaxBps ?? 0))
  return {
    outcome: 'exit',
    exit: {
      chain_id: state.setup.chainId,
      token,
      source: 'COMPUTED',
      price_usd: exactText(evaluation.price),
      confidence: { score: evaluation.score, label: label(evaluation.score) },
      sellability: sellabilityHead(sellability),
      sales: sales.map((sale, at) =>
        saleText(evaluation, unit, sale, sizes.in === 'microusd' ? (sizes.values[at] as bigint) : null),
      ),
      largest: largestText(largest, unit),
      expires_at_ms: evaluation.expiresAtMs,
      as_of: asOfText(evaluation.asOf),
      policy_version: state.policyView.version,
    },
  }
}

/** At least one unit: the sale of nothing has no price. */
function worthOf(microusd: bigint, unit: Fraction): bigint {
  const amount = (microusd * unit.den) / unit.num
  return amount > 0n ? amount : 1n
}

function saleText(priced: Priced, unit: Fraction, { amount, plan }: Sale, asked: bigint | null): object {
  const sold = plan === null || plan.microusd.num === 0n ? null : plan
  return {
    asked_microusd: asked?.toString() ?? null,
    amount: amount.toString(),
    reason: sold !== null ? null : plan === null ? 'LIQUIDITY_EXCEEDED' : 'TOO_SMALL',
    proceeds:
      sold &&
      [...sold.proceeds].map(([token, units]) => ({ token_address: token, amount: units.toString() })),
    proceeds_microusd: sold && (sold.microusd.num / sold.microusd.den).toString(),
    average_price_usd: sold && averageText(priced, unit, amount, sold),
    distance_bps: sold && distanceText(unit, amount, sold),
    split: [...(sold?.shares ?? [])].map(([way, share]) => ({ route_id: way.id, amount: share.toString() })),
    swaps: (sold?.swaps ?? []).map(({ pool, amountIn, amountOut }) => ({
      pool_id: pool.id,
      pool_address: pool.address,
      from: pool.from,
      to: pool.to,
      amount_in: amountIn.toString(),
      amount_out: amountOut.toString(),
    })),
  }
}

/** Dollars per whole token: the price times the sale's proceeds per dollar of value at that price. */
function averageText({ price }: Priced, unit: Fraction, amount: bigint, { microusd }: Plan) {
  const average = ratio.reduce(
    price.num * microusd.num * unit.den,
    price.den * microusd.den * unit.num * amount,
  )
  return ratio.isTooLarge(average) ? null : exactText(average)
}

/** Distance of the average from the price, negative when it is below. */
function distanceText(unit: Fraction, amount: bigint, { microusd }: Plan): string {
  const paid = microusd.num * unit.den
  const full = microusd.den * unit.num * amount
  return paid < full
    ? `-${bpsText({ num: (full - paid) * 10_000n, den: full })}`
    : bpsText({ num: (paid - full) * 10_000n, den: full })
}

function largestText({ bps100, bps500 }: Exit['largest'], unit: Fraction): object {
  const text = (amount: bigint | null) =>
    amount === null
      ? null
      : { amount: amount.toString(), worth_microusd: ((amount * unit.num) / unit.den).toString() }
  return { bps_100: text(bps100), bps_500: text(bps500) }
}
