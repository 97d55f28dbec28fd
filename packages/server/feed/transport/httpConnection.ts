/**
 * JSON-RPC over HTTP, one call or one batch per request. The limits of time and size apply up to the last byte of the
 * body, so neither a slow nor an endless answer can block a call.
 */
import { AnswerReader, notJson, toAnswer } from '../answers/answerReader.ts'
import { AnswerTooLarge, NotAnAnswer } from '../answers/answerStream.ts'
import {
  type Call,
  type Connection,
  type ConnectionOptions,
  encodeCall,
  resultOf,
  type Settled,
  timedOut,
  tooLarge,
} from './connection.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import { noteArrival } from './arrival.ts'
import { post, type PostAnswer } from './httpPost.ts'
import { startPace } from './answerTimeLimit.ts'

/** A longer `Retry-After` is not waited for in full: the endpoint is tried sooner. */
const MAX_RETRY_AFTER_MS = 60_000
/** The status some endpoints send when an answer would be too large. */
const CONTENT_TOO_LARGE = 413
/** The name of a batch in errors and limits. */
const BATCH = 'batch'

export function openHttp(options: ConnectionOptions): Connection {
  let lastId = 0
  return {
    subscribe: null,
    onLost: null,
    close: () => {},
    call: async (method, params, signal) => {
      const id = ++lastId
      const answer = toAnswer(
        await ask(options, method, encodeCall(id, method, params), signal),
        options.name,
      )
      if (answer.id !== id && !(answer.id === null && answer.error !== undefined))
        throw malformed(options, `the answer to ${method} carries another call's id`)
      return resultOf(answer, options, method)
    },
    batch: async (calls, signal) => {
      const firstId = lastId + 1
      lastId += calls.length
      const bodies = calls.map(({ method, params }, at) => encodeCall(firstId + at, method, params))
      return settledOf(options, calls, firstId, await ask(options, BATCH, `[${bodies.join()}]`, signal))
    },
  }
}

/**
 * Outcomes in the order of the calls, whatever the order of the answers. One malformed outcome fails the whole batch.
 */
function settledOf(
  options: ConnectionOptions,
  calls: readonly Call[],
  firstId: number,
  answers: unknown,
): readonly Settled[] {
  if (!Array.isArray(answers)) {
    // A single error object is how endpoints report that they do not support batches.
    resultOf(toAnswer(answers, options.name), options, BATCH)
    throw malformed(options, 'answered a batch with something other than a list')
  }
  const settled: (Settled | undefined)[] = calls.map(() => undefined)
  for (const each of answers) {
    const answer = toAnswer(each, options.name)
    const at = typeof answer.id === 'number' ? answer.id - firstId : -1
    if (!(at in settled)) throw malformed(options, 'a batch was answered with an id that is not in it')
    if (settled[at] !== undefined) throw malformed(options, 'a batch was answered with the same id twice')
    settled[at] = settle(() => resultOf(answer, options, calls[at]?.method ?? BATCH))
  }
  return settled.map((each, at) => {
    if (each !== undefined) return each
    throw malformed(options, `a batch of ${calls.length} lacks the answer to call ${at + 1}`)
  })
}

function settle(result: () => unknown): Settled {
  try {
    return { result: result() }
  } catch (error) {
    if (isFeedError(error)) return { error }
    throw error
  }
}

async function ask(
  options: ConnectionOptions,
  method: string,
  body: string,
  signal: AbortSignal,
): Promise<unknown> {
  const { name, address, limits } = options
  const pace = startPace(signal, limits)
  const reader = new AnswerReader(method, limits)
  let announcedBytes = 0
  try {
    const headers = {
      'content-type': 'application/json',
      ...(address.authorization === null ? {} : { authorization: address.authorization }),
    }
    const bodyReader = {
      announced: (bytes: number) => {
        announcedBytes = bytes
        if (!reader.mayBe(bytes)) throw new AnswerTooLarge()
      },
      push: (chunk: Buffer) => reader.push(chunk),
      received: (bytes: number) => {
        noteArrival(signal)
        pace.received(bytes)
      },
    }
    const answer = await post(address.dial(), headers, body, bodyReader, pace.signal)
    return decodeResponse(options, answer, reader, method)
  } catch (error) {
    if (isFeedError(error)) throw error
    if (error instanceof AnswerTooLarge) throw tooLarge(options, method, reader.mostBytes)
    if (error instanceof NotAnAnswer) throw notJson(name, reader.isPage ? 200 : undefined)
    signal.throwIfAborted()
    const expiry = pace.expiry()
    if (expiry !== null) throw timedOut(options, method, expiry)
    throw new FeedError('ENDPOINT_UNREACHABLE', name, `${method} failed: ${failureOf(error)}`)
  } finally {
    options.onAnswer?.(method, Math.max(reader.bytes, announcedBytes))
    pace.release()
  }
}

function decodeResponse(
  { name }: ConnectionOptions,
  { status, headers }: PostAnswer,
  reader: AnswerReader,
  method: string,
): unknown {
  if (status === 429)
    throw new FeedError('ENDPOINT_LIMITED', name, 'limits our rate (HTTP 429)', retryAfter(headers))
  // A redirect could send the key in the address to another host.
  if (status >= 300 && status < 400)
    throw new FeedError('ENDPOINT_UNREACHABLE', name, `${method} was redirected (HTTP ${status})`)
  if (status >= 200 && status < 300) return reader.end()
  // Some nodes send a JSON-RPC error with an HTTP error status; without one in the body, only the status is left.
  const answer = errorIn(reader)
  if (answer !== null) return answer
  if (status === CONTENT_TOO_LARGE)
    throw new FeedError(
      'ANSWER_TOO_LARGE',
      name,
      `the answer to ${method} would be too large (HTTP ${status})`,
    )
  const facts = { httpStatus: status, ...retryAfter(headers) }
  throw new FeedError('ENDPOINT_STATUS', name, `${method} had HTTP status ${status}`, facts)
}

function errorIn(reader: AnswerReader): unknown {
  let value: unknown
  try {
    value = reader.end()
  } catch (error) {
    if (error instanceof NotAnAnswer) return null
    throw error
  }
  const { id, error } = (value ?? {}) as { readonly id?: unknown; readonly error?: unknown }
  return typeof error === 'object' && id !== undefined ? value : null
}

const malformed = ({ name }: ConnectionOptions, sentence: string): FeedError =>
  new FeedError('ANSWER_MALFORMED', name, sentence)

/**
 * Seconds, or a date; a date is compared with the answer's own `Date` header, so that two clocks are never compared.
 */
function retryAfter(headers: PostAnswer['headers']): { readonly retryAfterMs?: number } {
  const value = headers['retry-after'] ?? ''
  const waitMs = /^\d+$/.test(value)
    ? Number(value) * 1000
    : Date.parse(value) - Date.parse(headers.date ?? '')
  return Number.isNaN(waitMs) ? {} : { retryAfterMs: Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS) }
}

/** Uses only the platform's error code, because its message contains the host. */
function failureOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' ? code : 'the connection failed'
}
