/** Keyset pages: a limit and an opaque cursor, signed and bound to the query that returned it. */
import { integer, nullable, optional, string } from './schema.ts'

export const DEFAULT_PAGE_LIMIT = 100
export const MAX_PAGE_LIMIT = 1000

/** The query fields of every paginated list. */
export const pageQueryFields = {
  limit: optional(integer({ minimum: 1, maximum: MAX_PAGE_LIMIT })),
  cursor: optional(string({ minLength: 1, maxLength: 1024 })),
} as const

/** Null on the last page. */
export const NextCursor = nullable(string())
