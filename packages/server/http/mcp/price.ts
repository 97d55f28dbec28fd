/**
 * A price as a tool reports it: always with chain, block, score and expiry, and null with a reason when there is none
 * or its score is below the operator's minimum for agents.
 */
import { AssayError, QuoteError } from '@assay/sdk'
import type { AsOf, Confidence, ExactValue, JsonSchema } from '@assay/sdk/wire'
import { type Asked, object, text, textOrNull, type TokenArguments, whole, wholeOrNull } from './tool.ts'
import { unpricedWords } from './words.ts'

const BLOCK: JsonSchema = {
  description: 'The block the answer is based on; null while the token is still being looked up.',
  anyOf: [
    object({
      number: whole('Its number.'),
      hash: text('Its hash.'),
      time_ms: whole('Its time, Unix milliseconds.'),
    }),
    { type: 'null' },
  ],
}

const EXACT: JsonSchema = {
  description: 'The price as an exact fraction of integers; null if price_usd is.',
  anyOf: [
    object({ numerator: text('The numerator.'), denominator: text('The denominator.') }),
    { type: 'null' },
  ],
}

/** Fields of every tool that may report a number. */
export const PRICE_FIELDS: Readonly<Record<string, JsonSchema>> = {
  chain_id: whole('The chain.'),
  token_address: text('The token.'),
  price_usd: textOrNull(
    'US dollars for one whole token, as decimal text of 18 significant digits. Null means unknown, never zero.',
  ),
  exact: EXACT,
  reason: textOrNull('Why price_usd is null, as a code; null if there is a price.'),
  explanation: textOrNull('The reason in a sentence.'),
  score: wholeOrNull('Confidence from 0 to 10: the weakest link, not a probability. Null without a price.'),
  score_label: textOrNull('The score as a word.'),
  min_score: whole('Below this score the operator withholds the number from agents.'),
  block: BLOCK,
  evaluated_at_ms: wholeOrNull('When it was evaluated, Unix milliseconds.'),
  expires_at_ms: wholeOrNull(
    'From this time on the price is no longer valid; ask again. Null if it does not expire.',
  ),
  stream_sequence: wholeOrNull('The record in the log that contains this.'),
  retry_after_ms: wholeOrNull('When to ask again; null if waiting does not help.'),
}

export type PriceFields = {
  readonly price_usd: string | null
  readonly score: number | null
  readonly reason: string | null
}

/** The fields that the quotes of all endpoints share. */
export type Stated = {
  readonly state: string
  readonly price_usd?: ExactValue
  readonly confidence?: Pick<Confidence, 'score' | 'label'>
  readonly reason?: string
  readonly evaluated_at_ms?: number
  readonly expires_at_ms?: number | null
  readonly as_of?: AsOf
  readonly retry_after_ms?: number
}

const EMPTY = {
  price_usd: null,
  exact: null,
  score: null,
  score_label: null,
  block: null,
  evaluated_at_ms: null,
  expires_at_ms: null,
  stream_sequence: null,
  retry_after_ms: null,
} as const

const placeOf = (given: TokenArguments) => ({
  chain_id: given.chain_id,
  token_address: given.token_address.toLowerCase(),
})

export function priceOf(
  given: TokenArguments,
  stated: Stated,
  { minScore }: Pick<Asked, 'minScore'>,
): PriceFields & Readonly<Record<string, unknown>> {
  const head = { ...EMPTY, ...placeOf(given), min_score: minScore, ...momentOf(stated) }
  const { state, price_usd: price, confidence, reason = state } = stated
  if (state === 'PENDING')
    return {
      ...head,
      reason: 'PENDING',
      explanation: 'The token is being looked up; there is no price yet.',
      retry_after_ms: stated.retry_after_ms ?? 1000,
    }
  if (price === undefined || confidence === undefined)
    return { ...head, reason, explanation: unpricedWords(reason) }
  const { score, label } = confidence
  const scored = { ...head, score, score_label: label, expires_at_ms: stated.expires_at_ms ?? null }
  if (score < minScore)
    return {
      ...scored,
      reason: 'BELOW_MIN_SCORE',
      explanation: `There is a price, with a score of ${score}; this service gives agents no number below ${minScore}. The tool why explains the score.`,
    }
  const { display, numerator, denominator } = price
  return {
    ...scored,
    price_usd: display,
    exact: { numerator, denominator },
    reason: null,
    explanation: null,
  }
}

function momentOf({ as_of: at, evaluated_at_ms }: Stated): object {
  if (at === undefined) return {}
  return {
    block: { number: at.block_number, hash: at.block_hash, time_ms: at.block_time_ms },
    stream_sequence: at.stream_sequence,
    evaluated_at_ms: evaluated_at_ms ?? null,
  }
}

/** A refusal that is an answer: the request was valid, but no number is available. */
export function refusedPrice(given: TokenArguments, failure: unknown, { minScore }: Pick<Asked, 'minScore'>) {
  if (!(failure instanceof QuoteError) || MALFORMED.has(failure.code)) throw failure
  const { code, detail, retryAfterMs } = failure
  return {
    ...EMPTY,
    ...placeOf(given),
    min_score: minScore,
    reason: code === 'NO_ROUTE' && detail !== null && CODE.test(detail) ? detail : code,
    explanation: failedWords(failure),
    retry_after_ms: retryAfterMs,
  }
}

const MALFORMED: ReadonlySet<string> = new Set(['INVALID_PARAMS', 'INVALID_ADDRESS', 'UNSUPPORTED_CHAIN'])
const CODE = /^[A-Z_]{1,40}$/

const FAILED: Readonly<Record<string, string>> = {
  TOKEN_UNKNOWN: 'There is no token at this address.',
  NO_ROUTE: 'The token has no price now, so nothing leads to a stable.',
  NOT_SUPPORTED: 'This is a stable: other tokens are sold into it.',
  RPC_UNAVAILABLE: 'No node of the chain could answer.',
  BUDGET_EXCEEDED: 'The budget for looking tokens up is used up.',
  DEADLINE_EXCEEDED: 'It could not be computed in time.',
}
const failedWords = ({ code }: AssayError): string => FAILED[code] ?? 'The service could not give a price.'

/** Converts whole microdollars to dollars, exactly. */
export function dollars(microusd: string): string {
  const digits = microusd.padStart(7, '0')
  const cents = digits.slice(-6).replace(/0+$/, '')
  return cents === '' ? digits.slice(0, -6) : `${digits.slice(0, -6)}.${cents}`
}
