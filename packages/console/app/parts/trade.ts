/**
 * A swap in everyday words: what was paid, what was received, whether it was a sale or a purchase, and the amount in
 * dollars.
 */
import type { SwapEvent } from '@assay/sdk'
import { amount, dollars } from '../format.ts'
import type { Row } from '../row.ts'

export type Trade = {
  /** Which of the two tokens was the input. */
  readonly sold: 0 | 1
  readonly unitsIn: string
  readonly unitsOut: string
}

export function tradeIn(event: SwapEvent): Trade {
  if ('amount0_in' in event)
    return event.amount0_in === '0'
      ? { sold: 1, unitsIn: event.amount1_in, unitsOut: event.amount0_out }
      : { sold: 0, unitsIn: event.amount0_in, unitsOut: event.amount1_out }
  const [units0, units1] = [event.amount0.replace('-', ''), event.amount1.replace('-', '')]
  return event.amount0.startsWith('-')
    ? { sold: 1, unitsIn: units1, unitsOut: units0 }
    : { sold: 0, unitsIn: units0, unitsOut: units1 }
}

type Side = Pick<Row, 'token' | 'price'> | undefined
export type Told = {
  readonly side: 'Buy' | 'Sell' | 'Swap'
  readonly amounts: string
  readonly worth: string | null
}

const RANK: Readonly<Record<string, number>> = { STABLE: 2, ROUTING: 1, TOKEN: 0 }

/** `sides` are token 0 and token 1, if known. */
export function tell(trade: Trade, sides: readonly [Side, Side], symbols: readonly [string, string]): Told {
  const bought = trade.sold === 0 ? 1 : 0
  const [given, taken] = [sides[trade.sold], sides[bought]]
  const text = (units: string, side: Side, at: 0 | 1) =>
    `${amount(units, side?.token.decimals, 6)} ${symbols[at]}`
  return {
    side: sideOf(given, taken),
    amounts: `${text(trade.unitsIn, given, trade.sold)} → ${text(trade.unitsOut, taken, bought)}`,
    worth: worthOf(trade.unitsIn, given) ?? worthOf(trade.unitsOut, taken),
  }
}

/** Of the two, the token that is less of a currency is the one bought or sold. */
function sideOf(given: Side, taken: Side): Told['side'] {
  if (given === undefined || taken === undefined) return 'Swap'
  const [out, back] = [RANK[given.token.role] ?? 0, RANK[taken.token.role] ?? 0]
  return out === back ? 'Swap' : out < back ? 'Sell' : 'Buy'
}

function worthOf(units: string, side: Side): string | null {
  if (side?.price?.state !== 'PRICED' || side.token.decimals === null) return null
  const usd = (Number(units) / 10 ** side.token.decimals) * Number(side.price.price_usd.display)
  return dollars(String(Math.round(usd * 1e6)))
}
