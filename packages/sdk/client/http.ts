/**
 * One HTTP call: a typed answer, or an `AssayError`. The key is sent only in the Authorization header. A call ends at
 * its deadline or with the caller's signal, whichever comes first.
 */
import { AssayError, errorOf, UnreachableError } from './failure.ts'

/** Longer than the service gives any handler (10 s), so its own answer arrives first. */
const DEFAULT_TIMEOUT_MS = 15_000

export type CallOptions = {
  readonly signal?: AbortSignal
  /** The time limit for the whole response; 15 s by default. */
  readonly timeoutMs?: number
}

export type HttpOptions = {
  readonly baseUrl: URL
  readonly apiKey: string | null
  readonly fetch: typeof globalThis.fetch
}

type Query = Readonly<Record<string, string | number | undefined>>

export type Call = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path below the base URL, each segment already encoded. */
  readonly path: string
  readonly query?: Query
  readonly body?: unknown
}

/** `Result` is the type of the wire; answers are trusted to match it and may have more fields. */
export async function call<Result>(
  http: HttpOptions,
  what: Call,
  options: CallOptions = {},
): Promise<Result> {
  const { ok, status, headers, body } = await exchange(http, what, options)
  const requestId = headers.get('x-request-id')
  if (!ok) throw errorOf({ status, body, retryAfterMs: retryAfterMs(headers), requestId, what: nameOf(what) })
  if (status !== 204 && body === null)
    throw new AssayError({
      code: 'UNEXPECTED_ANSWER',
      status,
      requestId,
      message: `${nameOf(what)}: ${status} without a JSON object`,
    })
  return body as Result
}

/** The whole answer, whatever its status; throws if there is none. */
async function exchange(http: HttpOptions, what: Call, options: CallOptions) {
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  signal?.throwIfAborted()
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await http.fetch(urlOf(http.baseUrl, what), {
      method: what.method ?? 'GET',
      headers: headersOf(http, what),
      credentials: 'same-origin',
      redirect: 'error',
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      ...(what.body === undefined ? {} : { body: JSON.stringify(what.body) }),
    })
    return { ok: answer.ok, status: answer.status, headers: answer.headers, body: parse(await answer.text()) }
  } catch (cause) {
    signal?.throwIfAborted()
    const message = deadline.aborted ? `no response in ${timeoutMs} ms` : reasonOf(cause)
    throw new UnreachableError({
      code: deadline.aborted ? 'TIMEOUT' : 'NETWORK',
      message: `${nameOf(what)}: ${message}`,
      cause,
    })
  }
}

/** Without query and headers, so that no message contains a secret. */
const nameOf = ({ method, path }: Call): string => `${method ?? 'GET'} /${path}`

/** Resolved below the base URL, whose own path is kept. */
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

/** Null if the text is not a JSON object. */
function parse(text: string): object | null {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' ? body : null
  } catch {
    return null
  }
}

/** The header has whole seconds; ignore anything else. */
function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after') ?? ''
  return /^[0-9]{1,9}$/.test(text) ? Number(text) * 1000 : null
}

/** Fetch hides the cause behind "fetch failed". */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message
}
