/** Calls to `/v1/admin` of a running service, for an operator who has its address and an admin key but not its files. */
import { EXIT, Failure } from './exit.ts'

export type AdminChoice = { readonly url?: string; readonly key?: string }

type Method = 'GET' | 'POST' | 'DELETE'

export class AdminClient {
  readonly #url: string
  readonly #key: string

  constructor(url: string, key: string | undefined) {
    if (!URL.canParse(url))
      throw new Failure(`--url ${url} is not an address such as http://127.0.0.1:8080`, EXIT.misused)
    if (key === undefined)
      throw new Failure('--url needs an admin key: give it with --key or ASSAY_KEY', EXIT.misused)
    this.#url = url.replace(/\/$/, '')
    this.#key = key
  }

  async call(method: Method, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.#url}/v1/admin/${path}`, {
      method,
      redirect: 'error',
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((failure: Error) => {
      throw new Failure(`${this.#url} was not reached (${reasonOf(failure)})`, EXIT.refused)
    })
    const text = await response.text()
    if (response.ok) return text === '' ? null : JSON.parse(text)
    throw new Failure(
      `${this.#url} answered ${response.status}: ${messageIn(text)}${NEXT[response.status] ?? ''}`,
      codeOf(response.status),
    )
  }
}

const NEXT: Readonly<Record<number, string>> = {
  401: '\nGive a valid key with --key or ASSAY_KEY.',
  403: '\nThe key needs the scope admin, and `admin.allow` of the service must list this machine.',
}

const REFUSED = new Set([401, 403, 429, 503])

const codeOf = (status: number): number =>
  REFUSED.has(status)
    ? EXIT.refused
    : status === 400
      ? EXIT.misused
      : status === 404
        ? EXIT.absent
        : EXIT.failed

/** The sentence in `{error}`; something else than the service may be listening there. */
function messageIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    if (typeof error === 'string') return error
  } catch {
    // Not JSON, so not an answer of the service.
  }
  return 'not an answer of Assay'
}

const reasonOf = ({ message, cause }: Error): string => (cause instanceof Error ? cause.message : message)
