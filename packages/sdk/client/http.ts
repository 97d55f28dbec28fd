/**
 * One HTTP call: a typed answer, or an `AssayError`. The key goes into the Authorization header and nowhere
 * else; a call ends at its deadline or with the caller's signal, whichever comes first.
 */
import { AssayError, errorOf, UnreachableError } from './failure.ts'

/** Longer than the service gives any handler (10 s), so its own answer arrives first. */
const DEFAULT_TIMEOUT_MS = 15_000

export type CallOptions = {
  readonly signal?: AbortSignal
  /** From now to the whole answer; 15 s unless told. */
  readonly timeoutMs?: number
}

export type HttpOptions = {
  readonly baseUrl: URL
  readonly apiKey: string | null
  readonly fetch: typeof globalThis.fetch
}

type Query = Readonly<Record<string, string | number | undefined>>

export type Call = {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  /** Below the base URL, each segment already encoded. */
  readonly path: string
  readonly query?: Query
  readonly body?: unknown
}

/** `Result` is the type of the wire; answers are trusted to follow it and may have more fields. */
export async function call<Result>(
  http: HttpOptions,
  what: Call,
  options: CallOptions = {},
): Promise<Result> {
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  signal?.throwIfAborted()
  const name = `${what.method ?? 'GET'} /${what.path}`
  const deadline = AbortSignal.timeout(timeoutMs)
  const response = { status: 0, ok: false, text: '', headers: new Headers() }
  try {
    const answer = await http.fetch(urlOf(http.baseUrl, what), {
      method: what.method ?? 'GET',
      headers: headersOf(http, what),
      credentials: 'same-origin',
      redirect: 'error',
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      ...(what.body === undefined ? {} : { body: JSON.stringify(what.body) }),
    })
    Object.assign(response, { status: answer.status, ok: answer.ok, headers: answer.headers })
    response.text = await answer.text()
  } catch (cause) {
    signal?.throwIfAborted()
    const code = deadline.aborted ? 'TIMEOUT' : 'NETWORK'
    const message = deadline.aborted ? `${name}: no answer in ${timeoutMs} ms` : `${name}: ${reasonOf(cause)}`
    throw new UnreachableError({ code, message, cause })
  }
  const { status, headers } = response
  const requestId = headers.get('x-request-id')
  const body = parse(response.text)
  if (!response.ok)
    throw errorOf({ status, body: body ?? null, retryAfterMs: retryAfterMs(headers), requestId, what: name })
  if (status === 204) return undefined as Result
  if (typeof body !== 'object' || body === null)
    throw new AssayError({
      code: 'UNEXPECTED_ANSWER',
      status,
      requestId,
      message: `${name}: ${status} without a JSON object`,
    })
  return body as Result
}

/** Resolved below the base, whose own path is kept. */
export function urlOf(baseUrl: URL, { path, query = {} }: Pick<Call, 'path' | 'query'>): string {
  const url = new URL(path, baseUrl)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value))
  return url.href
}

function headersOf({ apiKey }: HttpOptions, { body }: Call): Record<string, string> {
  return {
    accept: 'application/json',
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
}

/** Undefined where there is no JSON. */
function parse(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The header has whole seconds; anything else says nothing. */
function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after') ?? ''
  return /^[0-9]{1,9}$/.test(text) ? Number(text) * 1000 : null
}

/** Fetch hides why behind "fetch failed". */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message
}
