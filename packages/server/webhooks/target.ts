/**
 * The target of a webhook. Its URL is checked at registration, and its host name is resolved for every attempt:
 * each of its addresses must be allowed, and the connection goes to the checked one. The name is not resolved
 * again in between, so a changed DNS answer has no effect.
 */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { AddressRule } from './publicAddress.ts'

export type Resolve = (name: string) => Promise<readonly string[]>

/** The URL, and the address to connect to for it. */
export type Target = { readonly url: URL; readonly address: string }

/** The attempt is refused before a byte is sent. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused'
}

const MAX_URL = 2048

/** The fault of a URL as text; null when it may be registered. Its host name is resolved only at an attempt. */
export function urlFault(text: string, isAllowed: AddressRule): string | null {
  if (text.length > MAX_URL) return `it has ${text.length} characters; expected at most ${MAX_URL}`
  // The parser would drop them silently, and see another address than a person does.
  if (/[\s\\]|\p{Cc}/u.test(text)) return 'it has a blank, a backslash or a control character'
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return 'it is not an http or https URL'
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text))
    return 'it has a user or a password in it'
  if (url.hash !== '') return 'it has a fragment, which is never sent'
  const host = hostOf(url)
  if (isIP(host) !== 0 && !isAllowed(host)) return notAllowed(host)
  if (isIP(host) === 0 && /^(?:.+\.)?localhost\.?$/.test(host) && !isAllowed('127.0.0.1'))
    return notAllowed(host)
  return null
}

/** Uses the operating system's resolver, so that the hosts file and search domains apply. */
export const resolveByName: Resolve = async name =>
  (await lookup(name, { all: true })).map(({ address }) => address)

export async function targetOf(text: string, isAllowed: AddressRule, resolve: Resolve): Promise<Target> {
  const fault = urlFault(text, isAllowed)
  if (fault !== null) throw new TargetRefused(`the URL may not be called: ${fault}`)
  const url = new URL(text)
  const host = hostOf(url)
  if (isIP(host) !== 0) return { url, address: host }
  const addresses = await resolve(host)
  const [address] = addresses
  if (address === undefined) throw new TargetRefused(`${host} has no address`)
  // One private address among public ones is an attack or a mistake, whichever is used.
  const refused = addresses.find(each => !isAllowed(each))
  if (refused !== undefined) throw new TargetRefused(`${host} leads to an address: ${notAllowed(refused)}`)
  return { url, address }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

const notAllowed = (host: string): string =>
  `${host} is not on the public internet; an operator may allow its network with webhooks.allow_private`
