/**
 * The address a request comes from, as far as it can be trusted: the socket's own address or, behind proxies the
 * operator trusts, the right-most entry of X-Forwarded-For that is not one of them.
 */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'

export type ClientAddress = {
  readonly address: string
  /** An untrusted sender added a forwarding header: the request matches no allowlist. */
  readonly isClaimed: boolean
}

export class ClientAddresses {
  readonly #trusted: BlockList
  readonly #allowed: BlockList

  constructor({
    trusted,
    allowed,
  }: { readonly trusted: readonly string[]; readonly allowed: readonly string[] }) {
    this.#trusted = listOf(trusted)
    this.#allowed = listOf(allowed)
  }

  of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): ClientAddress {
    const own = plain(socket.remoteAddress ?? '')
    const forwarded = headers['x-forwarded-for']
    const isForwarded = forwarded !== undefined || headers['forwarded'] !== undefined
    if (!isIn(this.#trusted, own)) return { address: own, isClaimed: isForwarded }
    const hops = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',')
    for (const hop of hops.map(each => plain(each.trim())).toReversed()) {
      // An entry from a trusted proxy that is not an address identifies no client.
      if (isIP(hop) === 0) return { address: own, isClaimed: isForwarded }
      if (!isIn(this.#trusted, hop)) return { address: hop, isClaimed: false }
    }
    return { address: own, isClaimed: isForwarded }
  }

  /** Whether the address is a trusted proxy, which does not identify the client behind it. */
  isTrusted(address: string): boolean {
    return isIn(this.#trusted, plain(address))
  }

  /** Whether the operator's allowlist contains the client. */
  isAllowed(request: Pick<IncomingMessage, 'socket' | 'headers'>): boolean {
    const { address, isClaimed } = this.of(request)
    return !isClaimed && isIn(this.#allowed, address)
  }
}

/** A socket that listens on both families writes IPv4 as `::ffff:1.2.3.4`. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** The network of one subscriber: an IPv4 address, or the /64 of an IPv6 address. */
export function networkOf(given: string): string {
  const address = plain(given)
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups =
    tail === undefined
      ? left
      : [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
  return groups.slice(0, 4).join(':')
}

const isIn = (list: BlockList, address: string): boolean => {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** Parses addresses and networks such as `10.0.0.0/8`. */
function listOf(texts: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of texts) {
    const [address = '', bits] = text.split('/')
    const family = isIP(address)
    const most = family === 6 ? 128 : 32
    if (family === 0 || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most)))
      throw new Error(`${JSON.stringify(text)} is neither an address nor a network such as 10.0.0.0/8`)
    list.addSubnet(address, bits === undefined ? most : Number(bits), family === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}
