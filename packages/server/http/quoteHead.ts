/**
 * What decides about a stored quote, read from its first kilobyte. A quote may be a hundred kilobytes, and parsing even
 * its head costs more than reading it from the store: the few fields are found by their names, as the engine writes
 * them, and its test holds them against a parser.
 */
export type QuoteHead = {
  readonly state: string
  readonly reason: string | null
  readonly evaluated_at_ms: number
  readonly expires_at_ms: number | null
  readonly price_usd: { readonly numerator: string; readonly denominator: string } | null
}

/** Where the head ends: what is long, and holds other quotes, comes after it. */
const TAILS = [',"routes":[', ',"candidates":[']

export function headOf(text: string): QuoteHead {
  const head = text.slice(0, endOf(text))
  const state = STATE.exec(head)?.[1]
  const evaluated = EVALUATED.exec(head)?.[1]
  if (state === undefined || evaluated === undefined)
    throw new Error(`a stored quote begins ${head.slice(0, 200)}: it has no state or no time`)
  const expires = EXPIRES.exec(head)?.[1]
  const price = PRICE.exec(head)
  return {
    state,
    reason: REASON.exec(head)?.[1] ?? null,
    evaluated_at_ms: Number(evaluated),
    expires_at_ms: expires === undefined ? null : Number(expires),
    price_usd: price === null ? null : { numerator: price[1] as string, denominator: price[2] as string },
  }
}

const STATE = /"state":"([A-Z]+)"/
const REASON = /"reason":"([A-Z_]+)"/
const EVALUATED = /"evaluated_at_ms":([0-9]+)/
const EXPIRES = /"expires_at_ms":([0-9]+)/
const PRICE = /"price_usd":\{"numerator":"([0-9]+)","denominator":"([0-9]+)"/

function endOf(text: string): number {
  for (const tail of TAILS) {
    const end = text.indexOf(tail)
    if (end >= 0) return end
  }
  return text.length
}
