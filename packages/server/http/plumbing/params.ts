/**
 * Path and query parameters, read strictly: decimal digits only, no repeats, no unknown names. A fault gives the
 * parameter, the value received and what was expected; the caller chooses the format of the answer.
 */
import { checksummed } from '../../ops/checksum.ts'
import type { Address } from '../../ops/hex.ts'

export type Fault = { readonly kind: 'params' | 'address'; readonly message: string }
export type FaultOf = (fault: Fault) => Error

const SHOWN = 60

export class Params {
  readonly #values: ReadonlyMap<string, string>
  readonly #fail: FaultOf

  /** `known` lists all parameters of the endpoint. */
  constructor(search: URLSearchParams, known: readonly string[], fail: FaultOf) {
    const values = new Map<string, string>()
    for (const [name, value] of search) {
      if (!known.includes(name))
        throw fail({
          kind: 'params',
          message: `unknown parameter ${show(name)}; expected ${known.length === 0 ? 'none' : known.join(', ')}`,
        })
      if (values.has(name))
        throw fail({ kind: 'params', message: `parameter ${name} is given twice; expected it once` })
      values.set(name, value)
    }
    this.#values = values
    this.#fail = fail
  }

  text(name: string): string | null {
    return this.#values.get(name) ?? null
  }

  required(name: string): string {
    const value = this.text(name)
    if (value === null) throw this.#fail({ kind: 'params', message: `parameter ${name} is missing` })
    return value
  }

  integer(name: string, min: number, max: number): number | null {
    const value = this.text(name)
    return value === null ? null : integerIn(name, value, min, max, this.#fail)
  }

  address(name: string): Address | null {
    const value = this.text(name)
    return value === null ? null : addressIn(name, value, this.#fail)
  }

  /** The address in a search, which may be a pool of 32 bytes. */
  named(name: string): Address | null {
    const value = this.text(name)
    return value === null ? null : poolIn(name, value, this.#fail)
  }
}

export function integerIn(name: string, text: string, min: number, max: number, fail: FaultOf): number {
  const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN
  if (!(Number.isSafeInteger(value) && value >= min && value <= max))
    throw fail({
      kind: 'params',
      message: `${name} is ${show(text)}; expected an integer from ${min} to ${max}`,
    })
  return value
}

/** Any case, but mixed case must have a valid EIP-55 checksum. */
export function addressIn(
  name: string,
  text: string,
  fail: FaultOf,
  expected = '0x and 40 hex digits',
): Address {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text))
    throw fail({ kind: 'address', message: `${name} is ${show(text)}; expected ${expected}` })
  const lower = text.toLowerCase() as Address
  const digits = text.slice(2)
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  if (isMixed && checksummed(lower) !== text)
    throw fail({
      kind: 'address',
      message: `${name} ${text} has a wrong checksum; expected ${checksummed(lower)} or lower case`,
    })
  return lower
}

const ID = /^0x[0-9a-fA-F]{64}$/
const PADDING = '0'.repeat(24)

/** A pool by its address or by its 32-byte id, which for a pool with an address is the padded address. */
export function poolIn(name: string, text: string, fail: FaultOf): Address {
  if (!ID.test(text)) return addressIn(name, text, fail, '0x and 40 or 64 hex digits')
  const lower = text.toLowerCase().slice(2)
  return lower.startsWith(PADDING) ? `0x${lower.slice(PADDING.length)}` : `0x${lower}`
}

const show = (text: string): string => JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)
