/** What a request presents as its credential, and whether it comes from our own pages. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Presented } from './access.ts'

/** Over https the host-locked name; over loopback http the plain one. */
export const SECURE_COOKIE = '__Host-assay_session'
export const LOOPBACK_COOKIE = 'assay_session'

export function presentedIn(headers: IncomingHttpHeaders): Presented {
  const { authorization } = headers
  if (authorization !== undefined)
    return { bearer: /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '', cookie: null }
  return { bearer: null, cookie: cookieIn(headers.cookie) }
}

function cookieIn(header: string | undefined): string | null {
  for (const part of header?.split(';') ?? []) {
    const [name, value] = part.trim().split('=')
    if ((name === SECURE_COOKIE || name === LOOPBACK_COOKIE) && value !== undefined) return value
  }
  return null
}

const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

/** Our own origin is the configured one, else loopback; never what the Host header says. */
export function isOwnOrigin(origin: string | undefined, publicOrigin: string | null): boolean {
  if (origin === undefined) return false
  return publicOrigin === null ? LOOPBACK.test(origin) : origin === publicOrigin
}
