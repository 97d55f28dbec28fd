/** Answers in DefiLlama's format: coins by the requested names, those without a price left out. */
import type { HttpContext } from '../../plumbing/context.ts'
import type { TokenRow } from '../../../store/port.ts'
import type { Absences } from '../absences.ts'
import type { Price } from '../prices.ts'
import { toNumber } from '../rounding.ts'
import type { Coin } from './coins.ts'

/** Each moment is a read; this many cost one unit. */
export const MOMENTS_OF_UNIT = 50

export const rowsOf = (
  { store }: Pick<HttpContext, 'store'>,
  coins: readonly Coin[],
): Promise<readonly (TokenRow | null)[]> => store.readTokensOf(coins.map(({ token }) => token))

/** Leaves out coins with a reason, or without a double. Keys are client texts, `__proto__` among them. */
export function answerOf(
  coins: readonly Coin[],
  absences: Absences,
  textOf: (at: number) => object | number | string | null,
): { readonly coins: Readonly<Record<string, object | number>> } {
  const entries: Record<string, object | number> = Object.create(null) as Record<string, object | number>
  for (const [at, { name }] of coins.entries()) {
    const text = textOf(at)
    if (text === null || typeof text === 'string') absences.note(name, text ?? 'TOO_SMALL', at)
    else entries[name] = text
  }
  return { coins: entries }
}

export const confidenceOf = ({ score }: Price): number => score / 10

export const pointText = (price: Price, number: number) => ({
  timestamp: Math.floor(price.evaluatedAtMs / 1000),
  price: number,
  confidence: confidenceOf(price),
})

export function coinText(price: Price, row: TokenRow | null): object | null {
  const number = toNumber(price.value)
  if (number === null) return null
  return {
    ...(row?.decimals == null ? {} : { decimals: row.decimals }),
    ...symbolOf(row),
    ...pointText(price, number),
  }
}

/** Absent when the token reports none: it may choose any symbol, so nothing replaces it. */
export const symbolOf = (row: TokenRow | null): object => (row?.symbol == null ? {} : { symbol: row.symbol })
