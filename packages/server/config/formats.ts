/** Texts of the configuration that have a form of their own. */
import { isIP } from 'node:net'
import { checksummed } from '../ops/checksum.ts'
import type { Address, Hex } from '../ops/hex.ts'
import { type Field, integer, list, text } from './field.ts'

export const MAX = Number.MAX_SAFE_INTEGER

export const HOST = [/^[\w.:-]+$/, 'a host name or address'] as const

const lowerCase = (hex: string): string => hex.toLowerCase()

/** One wrong digit is another account: mixed case contains a checksum, and it must be valid. */
function checksumFault(address: string): string | null {
  const isMixed = /[a-f]/.test(address) && /[A-F]/.test(address)
  return isMixed && checksummed(address) !== address
    ? 'an address with a valid checksum (EIP-55); copy it again, or write it in lower case'
    : null
}

/** The n-th address of the examples. */
export const exampleAddress = (n: number): Address => `0x${String(n).repeat(40)}`

type Shown = { readonly examples?: readonly unknown[]; readonly isBuiltIn?: boolean }

const ADDRESS = [/^0x[0-9a-fA-F]{40}$/, 'an address: 0x and 40 hex digits', checksumFault] as const

export function address(about: string, shown: Shown = {}): Field<Address> {
  return text(about, ADDRESS, { convert: lowerCase, examples: [exampleAddress(1)], ...shown })
}

/** No two entries are the same. */
export const addresses = (about: string): Field<readonly Address[]> =>
  list(about, address(''), { unique: [''] })

const HASH = [/^0x[0-9a-fA-F]{64}$/, 'a hash: 0x and 64 hex digits'] as const

export function hash(about: string, shown: Shown = {}): Field<Hex> {
  return text(about, HASH, { convert: lowerCase, examples: [`0x${'ab'.repeat(32)}`], ...shown })
}

const EXPECTED_NETWORK = 'an address or a network such as 10.0.0.0/8'
const NETWORK = [/^[0-9a-fA-F.:]{2,45}(\/[0-9]{1,3})?$/, EXPECTED_NETWORK, networkFault] as const

function networkFault(network: string): string | null {
  const [ip = '', bits = '0'] = network.split('/')
  return isIP(ip) !== 0 && Number(bits) <= (isIP(ip) === 6 ? 128 : 32) ? null : EXPECTED_NETWORK
}

/** Addresses and networks, such as 10.0.0.0/8. */
export const networks = (
  about: string,
  options: Shown & { readonly default?: readonly string[] } = {},
): Field<readonly string[]> => list(about, text('', NETWORK), { examples: [['10.0.0.0/8']], ...options })

export const port = (usual: number, shown: Shown = {}): Field<number> =>
  integer('Port to listen on; 0 takes a free one.', [0, 65_535], { default: usual, ...shown })
