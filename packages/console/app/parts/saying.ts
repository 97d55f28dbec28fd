/** Failures in plain words: what is wrong, and what to do about it. Never shows the request line. */
import { AssayError, QuoteError } from '@assay/sdk'
import { duration } from '../format.ts'

export type Saying = {
  readonly what: string
  readonly advice: string | null
  /** The id that an operator searches for in the log. */
  readonly requestId: string | null
}

const SAYINGS: Readonly<Record<string, readonly [what: string, advice: string | null]>> = {
  TOKEN_UNKNOWN: [
    'There is no token at this address on this chain.',
    'Check the address, and that it belongs to this chain: the same address may be a token elsewhere.',
  ],
  NOT_A_POOL: [
    'There is no pool at this address.',
    'Only pools of the factories listed for a chain are known. Check the address and the chain.',
  ],
  NOT_SUPPORTED: [
    'This is a pool, but its factory is not listed here.',
    'An operator can list its factory in the configuration of the chain.',
  ],
  UNSUPPORTED_CHAIN: [
    'This service does not follow that chain.',
    'The overview lists the chains it follows.',
  ],
  NO_ROUTE: ['No route leads from here to a stable, so there is no price.', null],
  RPC_UNAVAILABLE: ['The nodes of this chain do not answer right now.', 'Try again in a moment.'],
  BUDGET_EXCEEDED: ['The budget for looking up unknown tokens is exhausted.', null],
  DEADLINE_EXCEEDED: ['The answer took too long.', 'Try again: progress so far is kept.'],
  RATE_LIMITED: ['This key has sent too many requests.', null],
  FORBIDDEN: ['This key may not do that.', 'Log in with a key that has the scope for it.'],
  NETWORK: ['The service cannot be reached.', 'Check that it is running and that this computer is online.'],
  TIMEOUT: ['The service did not answer in time.', 'Try again in a moment.'],
  INTERNAL: ['The service failed.', 'The request id below identifies the line in its log.'],
  UNAVAILABLE: ['The service cannot answer right now.', 'Try again in a moment.'],
  UNEXPECTED_ANSWER: [
    'The response is not from this service.',
    'Something between this page and the service may have replaced it, or the versions differ: reload the page.',
  ],
}

/** `GET /v1/… : 404: ` before the service's own text. */
const REQUEST_LINE = /^[A-Z]+ \S+: (?:[A-Z_]+|\d+): /

export function sayingOf(failure: Error): Saying {
  if (!(failure instanceof AssayError)) return { what: failure.message, advice: null, requestId: null }
  const [what, advice] = SAYINGS[failure.code] ?? [failure.message.replace(REQUEST_LINE, ''), null]
  const wait = failure.retryAfterMs === null ? null : `Try again in ${duration(failure.retryAfterMs)}.`
  return { what, advice: wait ?? advice, requestId: failure.requestId }
}

/** Another attempt cannot change the failure: a previously shown value no longer holds. */
export const isFinal = (failure: Error | null): boolean => failure instanceof QuoteError && !failure.retryable
