/** The outcome of one check of an endpoint: what was tested, what came back, and how to fix an insufficient result. */
import { type FeedError, type FeedErrorCode, isFeedError } from '../feed/feedError.ts'

export type CheckName =
  | 'connection'
  | 'chain_id'
  | 'genesis'
  | 'head'
  | 'finality'
  | 'receipts'
  | 'proof'
  | 'logs'
  | 'state'
  | 'batches'
  | 'rate'
  | 'archive'
  | 'heads'
  | 'latency'
  | 'answers'

export type Check = {
  readonly name: CheckName
  /** `warn` has a cost but works; `fail` means the endpoint cannot be used. */
  readonly status: 'ok' | 'warn' | 'fail'
  /** What was received, in one line; never a URL. */
  readonly value: string
  readonly fix: string | null
}

export const ok = (name: CheckName, value: string): Check => ({ name, status: 'ok', value, fix: null })
export const warn = (name: CheckName, value: string, fix: string): Check => ({
  name,
  status: 'warn',
  value,
  fix,
})
export const fail = (name: CheckName, value: string, fix: string): Check => ({
  name,
  status: 'fail',
  value,
  fix,
})

/** The endpoint's name is printed next to the check, so the sentence omits it. */
export const sentenceOf = (error: FeedError): string => error.message.replace(/^endpoint [^:]+: /, '')

/** Advice about an endpoint that does not answer like one. */
export function connectionFault(error: unknown): Check {
  if (!isFeedError(error)) throw error
  const sentence = sentenceOf(error)
  return fail(
    'connection',
    sentence,
    FIX[error.code] ?? 'is the node up? check scheme, host and port of the URL',
  )
}

const FIX: Partial<Readonly<Record<FeedErrorCode, string>>> = {
  ANSWER_MALFORMED:
    'use the JSON-RPC URL of the node or provider; this one returns something else, such as a web page',
  ENDPOINT_STATUS: 'check the path and the key in the URL',
  ENDPOINT_LIMITED: 'wait, or use a plan with a higher limit',
  ENDPOINT_TIMEOUT: 'is the node up and not overloaded? check host and port',
}
