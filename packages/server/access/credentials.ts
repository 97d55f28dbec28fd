/** Reads the credential of a request, and whether it comes from our own pages. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Presented } from './access.ts'

/** Over https the name locked to the host; over loopback http the plain one. */
const SECURE_COOKIE = '__Host-assay_session'
const LOOPBACK_COOKIE = 'assay_session'

export const isSecure = (publicOrigin: string | null): boolean => publicOrigin?.startsWith('https:') ?? false

/**
 * The only name under which a session is set and read: a page of another host can set the plain name, but never the
 * locked one.
 */
export const cookieName = (publicOrigin: string | null): string =>
  isSecure(publicOrigin) ? SECURE_COOKIE : LOOPBACK_COOKIE

export function presentedIn(headers: IncomingHttpHeaders, publicOrigin: string | null): Presented {
  const { authorization } = headers
  if (authorization !== undefined)
    return { bearer: /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '', cookie: null }
  return { bearer: null, cookie: cookieIn(headers.cookie, cookieName(publicOrigin)) }
}

function cookieIn(header: string | undefined, wanted: string): string | null {
  for (const part of header?.split(';') ?? []) {
    const [name, value] = part.trim().split('=')
    if (name === wanted && value !== undefined) return value
  }
  return null
}

const AUTHORIZATION = 'authorization'

/**
 * Node keeps the first of two credentials while a proxy in front may have checked the second, so such a request is
 * refused.
 */
export function hasTwoCredentials({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  let found = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) found += 1
  }
  return found > 1
}

/** What identifies the page a request came from: its headers, and the port it reached. */
export type Sent = Pick<IncomingMessage, 'headers'> & { readonly socket: { readonly localPort?: number } }

const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::([1-9]\d{0,4}))?$/
const HTTP_PORT = '80'

/**
 * Our own origin is the configured one, otherwise loopback at the port that was reached; the Host header is never used.
 */
export function isOwnOrigin({ headers: { origin }, socket }: Sent, publicOrigin: string | null): boolean {
  if (origin === undefined) return false
  if (publicOrigin !== null) return origin === publicOrigin
  const match = LOOPBACK.exec(origin)
  return match !== null && (match[1] ?? HTTP_PORT) === `${socket.localPort}`
}

/**
 * Whether the browser reports that a page of another origin sent the request. Another port counts too, because cookies
 * do not distinguish ports.
 */
export const isOfForeignPage = ({ headers }: Pick<Sent, 'headers'>): boolean =>
  headers['sec-fetch-site'] === 'same-site' || headers['sec-fetch-site'] === 'cross-site'
