import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CLIENT_ERRORS } from '../client/failure.ts'
import {
  BATCH_ERRORS,
  CLOSE_CODES,
  QUOTE_ERRORS,
  QuoteErrorBody,
  RESET_REASONS,
  ResetReason,
  shouldReconnect,
  STATUS_ERRORS,
} from './error.ts'

/** R-error-2, in its order. */
const SPECIFIED = [
  ['INVALID_PARAMS', 400],
  ['INVALID_ADDRESS', 400],
  ['UNSUPPORTED_CHAIN', 404],
  ['NOT_A_POOL', 404],
  ['TOKEN_UNKNOWN', 404],
  ['NO_ROUTE', 422],
  ['NOT_SUPPORTED', 422],
  ['RPC_UNAVAILABLE', 503],
  ['BUDGET_EXCEEDED', 503],
  ['DEADLINE_EXCEEDED', 504],
] as const

test('R-error-2: the quote errors are these ten with these statuses', () => {
  expect(Object.entries(QUOTE_ERRORS).map(([code, { status }]) => [code, status])).toEqual(SPECIFIED)
})

test('R-stream-4: the reset reasons are these five', () => {
  expect(Object.keys(RESET_REASONS)).toEqual([
    'INVALID_CURSOR',
    'EXPIRED_CURSOR',
    'FILTER_MISMATCH',
    'REPLAY_UNAVAILABLE',
    'SCHEMA_MISMATCH',
  ])
  expect(ResetReason['examples']).toEqual(Object.keys(RESET_REASONS))
})

test('R-error-3: 401, 403 and 429 have codes of their own', () => {
  const byStatus = Object.entries(STATUS_ERRORS).map(([code, { status }]) => [status, code])
  expect(Object.fromEntries(byStatus)).toMatchObject({
    401: 'UNAUTHENTICATED',
    403: 'FORBIDDEN',
    429: 'RATE_LIMITED',
  })
  expect(new Set(byStatus.map(([status]) => status)).size).toBe(byStatus.length)
})

test('a code means one thing: no two lists of the catalogue share one', () => {
  const codes = [QUOTE_ERRORS, BATCH_ERRORS, STATUS_ERRORS, CLIENT_ERRORS, RESET_REASONS].flatMap(Object.keys)
  expect(new Set(codes).size).toBe(codes.length)
})

test('a retry helps against transient failures: 429 and 5xx, and no other status', () => {
  for (const [code, { status, retryable }] of Object.entries({ ...QUOTE_ERRORS, ...STATUS_ERRORS }))
    expect([code, retryable]).toEqual([code, status === 429 || status >= 500])
})

test('the body of a quote error knows every code of the catalogue', () => {
  const { code } = QuoteErrorBody['properties'] as { code: { examples: string[] } }
  expect(code.examples).toEqual([...Object.keys(QUOTE_ERRORS), ...Object.keys(BATCH_ERRORS)])
})

test('only a refused subscription or a revoked credential is not reconnected', () => {
  expect(Object.keys(CLOSE_CODES)).toEqual(['1000', '1008', '1012', '1013'])
  const refused = [1000, 1001, 1006, 1008, 1011, 1012, 1013, 4999].filter(code => !shouldReconnect(code))
  expect(refused).toEqual([1008])
})

test('every entry describes itself in a sentence', () => {
  const source = readFileSync(new URL('./error.ts', import.meta.url), 'utf8')
  const sentences = [...source.matchAll(/about:\s*'([^']*)'/g)].map(match => match[1] as string)
  expect(sentences.length).toBe(
    [QUOTE_ERRORS, BATCH_ERRORS, STATUS_ERRORS, CLOSE_CODES].flatMap(Object.keys).length,
  )
  for (const sentence of [...sentences, ...Object.values(RESET_REASONS)])
    expect(sentence).toMatch(/^[A-Z].*\.$/)
})
