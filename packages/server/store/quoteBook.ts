/**
 * The full quotes of one commit in one compressed text. Quotes share most of their content (hops, the quotes of routing
 * assets), so each shared piece is written once and referenced; a quote is assembled when it is read.
 *
 * Each line is a piece. JSON text contains no raw control characters, so they mark references: to the sequence of the
 * quote's record, or to another piece; and prices whose text is still to be written.
 */
import {
  count,
  type Part,
  type QuoteJson,
  SEQUENCE,
  sequenceText,
  Shared,
  Unreduced,
  type Written,
} from '@assay/engine'
import { withLastPriced } from './lastPriced.ts'
import { pack, unpack } from './packed.ts'
import type { QuoteRow, Sequence } from './port.ts'
import { StoreError } from './storeError.ts'

/** The quotes of a commit, and the line of each quote in it. */
export type QuoteBook = { readonly packed: Uint8Array; readonly lineOf: ReadonlyMap<Written, number> }

/** Where a quote is in its book, and the values that depend on its position in the log. */
export type QuotePlace = {
  readonly line: number
  readonly sequence: Sequence
  /** The `last_priced` field as JSON text, for a token without a price. */
  readonly lastPriced: string | null
}

/** The last record of a token within a commit. */
export type Placed = {
  readonly tokenAddress: string
  readonly sequence: Sequence
  readonly quote: Written | null
  readonly lastPriced: string | null
}

/** A stored quote: in a book, or as plain text if its token has had no record since books were introduced. */
export type StoredQuote = Pick<QuoteRow, 'sequence' | 'price'> & {
  readonly line: number | null
  readonly lastPriced: string | null
  readonly packed: Uint8Array | null
  readonly quote: QuoteJson | null
}

export function quoteRowOf(stored: StoredQuote | undefined): QuoteRow | null {
  if (stored === undefined) return null
  const { sequence, price, line, lastPriced, packed } = stored
  const quote =
    packed === null || line === null ? stored.quote : quoteIn(packed, { line, sequence, lastPriced })
  return quote === null ? null : { sequence, price, quote, bytes: Buffer.byteLength(quote) }
}

/** Reads both forms; the parameters are a chain and a token. */
export const quoteSql = (chain: string, token: string): string => `
  SELECT price, coalesce(quote_place.sequence, token_quote.sequence) AS sequence, line,
    last_priced AS "lastPriced", packed, quote
  FROM token_price
    LEFT JOIN quote_place USING (chain_id, token_address)
    LEFT JOIN quote_book USING (chain_id, step)
    LEFT JOIN token_quote USING (chain_id, token_address)
  WHERE chain_id = ${chain} AND token_address = ${token} AND (packed IS NOT NULL OR quote IS NOT NULL)`

const HERE = { sequence: '\u0001', piece: '\u0002', price: '\u0004', end: '\u0003', line: '\n' } as const
const HEX = '([0-9a-f]+)'
const PLACES = new RegExp(
  `${HERE.sequence}|${HERE.piece}(\\d+)${HERE.end}|${HERE.price}${HEX}/${HEX}${HERE.end}`,
  'g',
)

/** Null where no record of the commit has a quote. */
export function packQuotes(quotes: readonly (Written | null)[]): QuoteBook | null {
  const lines: string[] = []
  const known = new Map<Shared, Place>()
  const placeOf = (piece: Shared): Place => {
    const place = known.get(piece)
    if (place !== undefined) return place
    let text = ''
    for (const part of piece.parts) text += part instanceof Shared ? placeOf(part).mark : marked(part)
    const line = lines.push(text) - 1
    const written = { line, mark: `${HERE.piece}${line}${HERE.end}` }
    known.set(piece, written)
    return written
  }
  const lineOf = new Map<Written, number>()
  for (const quote of quotes) if (quote !== null) lineOf.set(quote, placeOf(quote).line)
  return lines.length === 0 ? null : { packed: pack(lines.join(HERE.line)), lineOf }
}

/** The line of a piece, and the mark that stands for it in others: most are referred to many times. */
type Place = { readonly line: number; readonly mark: string }

function marked(part: Exclude<Part, Shared>): string {
  if (part === SEQUENCE) return HERE.sequence
  if (typeof part === 'string') return part
  const { num, den } = part.value
  return `${HERE.price}${num.toString(16)}/${den.toString(16)}${HERE.end}`
}

/** The quote as it was published. */
export function quoteIn(packed: Uint8Array, { line, sequence, lastPriced }: QuotePlace): QuoteJson {
  const pieces = unpack(packed).split(HERE.line)
  const own = sequenceText(count(sequence))
  const made = new Map<number, string>()
  const textOf = (at: number): string => {
    const known = made.get(at)
    if (known !== undefined) return known
    const piece = pieces[at]
    if (piece === undefined)
      throw new StoreError('STORE_CORRUPT', `The full quotes of a commit have no line ${at}.`)
    const text = piece.replace(PLACES, (_, line?: string, num?: string, den?: string) => {
      if (line !== undefined) return textOf(Number(line))
      return num === undefined
        ? own
        : new Unreduced({ num: BigInt(`0x${num}`), den: BigInt(`0x${den}`) }).text
    })
    made.set(at, text)
    return text
  }
  const text = textOf(line)
  return (lastPriced === null ? text : withLastPriced(text, lastPriced)) as QuoteJson
}
