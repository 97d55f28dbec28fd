/** Reads and writes the full quotes of tokens (`quoteBook.ts`). */
import type { QuoteRow } from '../port.ts'
import { type Placed, type QuoteBook, quoteRowOf, quoteSql, type StoredQuote } from '../quoteBook.ts'
import { type Query, statement } from './connection.ts'

const INSERT_BOOK = statement(`
  INSERT INTO quote_book (chain_id, step, packed) VALUES ($1, $2, $3)
  ON CONFLICT (chain_id, step) DO UPDATE SET packed = excluded.packed`)
const BOOKS_OF = statement(
  'SELECT token_address AS token, step FROM quote_place WHERE chain_id = $1 AND token_address = ANY ($2::text[])',
)
const UPSERT_PLACES = statement(`
  INSERT INTO quote_place (chain_id, step, token_address, sequence, line, last_priced)
  SELECT $1, $2, row.* FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::text[]) AS row
  ON CONFLICT (chain_id, token_address) DO UPDATE SET
    sequence = excluded.sequence, step = excluded.step, line = excluded.line, last_priced = excluded.last_priced`)
const DELETE_PLACES = statement(
  'DELETE FROM quote_place WHERE chain_id = $1 AND token_address = ANY ($2::text[])',
)
const DELETE_TEXTS = statement(
  'DELETE FROM token_quote WHERE chain_id = $1 AND token_address = ANY ($2::text[])',
)
const DELETE_BOOKS = statement(`
  DELETE FROM quote_book WHERE chain_id = $1 AND step = ANY ($2::bigint[])
    AND NOT EXISTS (
      SELECT FROM quote_place WHERE quote_place.chain_id = $1 AND quote_place.step = quote_book.step)`)

/** Call inside a commit, before the log is locked, because the texts are large. */
export async function writeBook(
  query: Query,
  chainId: number,
  step: number,
  book: QuoteBook | null,
): Promise<void> {
  if (book !== null) await query(INSERT_BOOK, [chainId, step, book.packed])
}

/**
 * Call inside a commit: stores the last quote of each token with records, and deletes books that no token refers to.
 */
export async function placeQuotes(
  query: Query,
  chainId: number,
  step: number,
  book: QuoteBook | null,
  placed: readonly Placed[],
): Promise<void> {
  if (placed.length === 0) return
  const tokens = placed.map(({ tokenAddress }) => tokenAddress)
  const before = await query<{ token: string; step: number }>(BOOKS_OF, [chainId, tokens])
  const lineOf = ({ quote }: Placed) => (quote === null ? undefined : book?.lineOf.get(quote))
  const quoted = placed.filter(each => lineOf(each) !== undefined)
  const unquoted = placed.filter(each => lineOf(each) === undefined)
  if (unquoted.length > 0)
    await query(DELETE_PLACES, [chainId, unquoted.map(({ tokenAddress }) => tokenAddress)])
  if (quoted.length > 0)
    await query(UPSERT_PLACES, [
      chainId,
      step,
      quoted.map(({ tokenAddress }) => tokenAddress),
      quoted.map(({ sequence }) => sequence),
      quoted.map(lineOf),
      quoted.map(({ lastPriced }) => lastPriced),
    ])
  if (before.length < tokens.length) await query(DELETE_TEXTS, [chainId, tokens])
  const left = new Set(before.map(each => each.step))
  if (left.size > 0) await query(DELETE_BOOKS, [chainId, [...left]])
}

const STORED = statement(quoteSql('$1', '$2'))

export async function readQuote(query: Query, chainId: number, token: string): Promise<QuoteRow | null> {
  const [row] = await query<StoredQuote>(STORED, [chainId, token])
  return quoteRowOf(row)
}
