/** Reads and writes the full quotes of tokens (`quoteBook.ts`). */
import type { QuoteRow } from '../port.ts'
import { type Placed, type QuoteBook, quoteRowOf, quoteSql, type StoredQuote } from '../quoteBook.ts'
import type { Connection } from './connection.ts'

export type QuoteWriter = (
  chainId: number,
  step: number,
  book: QuoteBook | null,
  placed: ReadonlyMap<string, Placed>,
) => void

/** Within a commit: stores the last quote of each token with records, and deletes books that no token refers to. */
export function quoteBookWriter(connection: Connection): QuoteWriter {
  const insertBook = connection.prepare(
    'INSERT OR REPLACE INTO quote_book (chain_id, step, packed) VALUES (?, ?, ?)',
  )
  const bookOf = connection.prepare('SELECT step FROM quote_place WHERE chain_id = ? AND token_address = ?')
  const upsertPlace = connection.prepare(`
    INSERT INTO quote_place (chain_id, token_address, sequence, step, line, last_priced) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET sequence = excluded.sequence, step = excluded.step, line = excluded.line,
      last_priced = excluded.last_priced`)
  const deletePlace = connection.prepare('DELETE FROM quote_place WHERE chain_id = ? AND token_address = ?')
  const deleteText = connection.prepare('DELETE FROM token_quote WHERE chain_id = ? AND token_address = ?')
  const deleteBook = connection.prepare(`
    DELETE FROM quote_book WHERE chain_id = :chain AND step = :step
      AND NOT EXISTS (SELECT 1 FROM quote_place WHERE chain_id = :chain AND step = :step)`)

  return (chainId, step, book, placed) => {
    const left = new Set<number>()
    for (const { tokenAddress, sequence, quote, lastPriced } of placed.values()) {
      const before = bookOf.get(chainId, tokenAddress) as { readonly step: number } | undefined
      if (before === undefined) deleteText.run(chainId, tokenAddress)
      else left.add(before.step)
      const line = quote === null ? undefined : book?.lineOf.get(quote)
      if (line === undefined) deletePlace.run(chainId, tokenAddress)
      else upsertPlace.run(chainId, tokenAddress, sequence, step, line, lastPriced)
    }
    if (book !== null) insertBook.run(chainId, step, book.packed)
    for (const before of left) deleteBook.run({ chain: chainId, step: before })
  }
}

export function quoteReader(connection: Connection): (chainId: number, token: string) => QuoteRow | null {
  const stored = connection.prepare(quoteSql('?', '?'))
  return (chainId, token) => quoteRowOf(stored.get(chainId, token) as StoredQuote | undefined)
}
