/**
 * Which addresses a webhook may use: those of the public internet, and networks the operator has allowed. An address
 * that is not known to be public is refused; a list of private ranges would miss the next way to write one.
 */
import { BlockList, isIP } from 'node:net'

/** IANA's special-purpose registry for IPv4, and addresses that are not unicast. */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]
/** Global unicast without its reserved parts: protocols, documentation, and 6to4, which contains an IPv4 address. */
const GLOBAL_V6 = '2000::/3'
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const specialV4 = listOf(SPECIAL_V4)
const globalV6 = listOf([GLOBAL_V6])
const specialV6 = listOf(SPECIAL_V6)

export type AddressRule = (address: string) => boolean

/** `allowed` are networks that are not public but may be used. */
export function addressRule(allowed: readonly string[]): AddressRule {
  const list = listOf(allowed)
  return address => {
    const plain = unmapped(address)
    if (plain === null) return false
    return list.check(plain, familyOf(plain)) || isPublic(plain)
  }
}

function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !specialV4.check(address, 'ipv4')
  return globalV6.check(address, 'ipv6') && !specialV6.check(address, 'ipv6')
}

/**
 * Extracts the IPv4 address that an IPv6 one embeds, because the connection would go there. Null for text that is no
 * address, or has a zone.
 */
function unmapped(address: string): string | null {
  const family = isIP(address)
  if (family === 0 || address.includes('%')) return null
  if (family === 4) return address
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ?? []
  if (high === undefined || low === undefined) return canonical
  const value = Number.parseInt(high, 16) * 2 ** 16 + Number.parseInt(low, 16)
  return [24, 16, 8, 0].map(shift => (value >>> shift) & 255).join('.')
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = familyOf(address)
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
