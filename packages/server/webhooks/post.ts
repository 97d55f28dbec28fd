/**
 * One attempt: a POST to the checked address, over a connection of its own. Redirects are not followed, little of the
 * answer is read, and the attempt ends at its deadline whatever the receiver does.
 */
import { request as requestHttp } from 'node:http'
import { request as requestHttps, type RequestOptions } from 'node:https'
import { isIP } from 'node:net'
import type { Target } from './target.ts'

/** From the look-up of the host name to the last byte of the answer. */
export const ATTEMPT_MS = 10_000
/** An answer is read only to find its end: one that is longer counts as a failure. */
const MAX_ANSWER = 64 * 1024

/** `status` is null without an answer; `error` is null for a complete answer with a 2xx status. */
export type Posted = { readonly status: number | null; readonly error: string | null }

export type Message = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function post(
  { url, address }: Target,
  { headers, body }: Message,
  signal: AbortSignal,
): Promise<Posted> {
  const bytes = Buffer.from(body)
  const isTls = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const options: RequestOptions = {
    method: 'POST',
    // The address rather than the name, so that the name is not resolved again.
    host: address,
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    agent: false,
    signal,
    maxHeaderSize: MAX_ANSWER,
    headers: {
      host: url.host,
      'content-type': 'application/json',
      'content-length': bytes.length,
      'user-agent': 'assay-webhooks/1',
      connection: 'close',
      ...headers,
    },
    ...(isTls && isIP(host) === 0 ? { servername: host } : {}),
  }
  return new Promise(resolve => {
    let status: number | null = null
    const fail = (failure: unknown) => resolve({ status, error: wordsOf(failure, signal) })
    const asked = (isTls ? requestHttps : requestHttp)(options, answer => {
      status = answer.statusCode ?? 0
      let read = 0
      answer.on('data', (part: Buffer) => {
        read += part.length
        if (read > MAX_ANSWER) asked.destroy(new Error(`the response is longer than ${MAX_ANSWER} bytes`))
      })
      answer.on('end', () => resolve({ status, error: answer.complete ? refusalIn(status) : CUT }))
      answer.on('error', fail)
      answer.on('close', () => resolve({ status, error: CUT }))
    })
    asked.on('error', fail)
    asked.end(bytes)
  })
}

/** Why TLS did not accept the receiver. Nothing of the message was sent. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

const CUT = 'the response was cut short'

function refusalIn(status: number | null): string | null {
  if (status !== null && status >= 200 && status < 300) return null
  if (status !== null && status >= 300 && status < 400) return `status ${status}: redirects are not followed`
  return `status ${status}`
}

/** Contains no addresses or names, because users who list deliveries see this text. */
function wordsOf(failure: unknown, signal: AbortSignal): string {
  if (signal.aborted) return `no complete response in ${ATTEMPT_MS / 1000} s`
  const { code, message } = failure as NodeJS.ErrnoException
  if (code === undefined) return message
  return UNTRUSTED.has(code)
    ? `its certificate is not valid for the host name, or not from an authority that this machine trusts (${code})`
    : `the connection failed (${code})`
}
