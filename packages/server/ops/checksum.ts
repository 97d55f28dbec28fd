/** An address in EIP-55 form: a letter is upper case if the same digit of the address's hash is eight or more. */
import { keccak256 } from './keccak.ts'

export function checksummed(address: string): `0x${string}` {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak256(Buffer.from(digits, 'latin1')).toString('hex')
  const cased = Array.from(digits, (digit, at) => ((hash[at] as string) >= '8' ? digit.toUpperCase() : digit))
  return `0x${cased.join('')}`
}
