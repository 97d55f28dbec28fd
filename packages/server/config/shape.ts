/**
 * Reads untrusted values from a parsed document and collects every fault, so that all faults of a configuration
 * are reported together, each with its path, the value received and what was expected.
 */
import { isIP } from 'node:net'
import { checksummed } from '../ops/checksum.ts'

export type Fault = { readonly path: string; readonly received: string; readonly expected: string }

const SHOWN = 60
/** A key within this edit distance counts as a typo. */
const SLIP = 3
/** Shorter parts of a variable are no secrets, and occur as ordinary words. */
const SECRET_LENGTH = 8

const NETWORK = {
  form: /^[0-9a-fA-F.:]{2,45}(\/[0-9]{1,3})?$/,
  expected: 'an address or a network such as 10.0.0.0/8',
} as const

export class Shape {
  readonly faults: Fault[] = []
  readonly #hidden: string[] = []

  /** Text from elsewhere that no fault may repeat, not even in part: YAML may have split it. */
  hide(text: string): void {
    this.#hidden.push(...text.split(/[\s"'`{}[\],:*&!|>]+/).filter(({ length }) => length >= SECRET_LENGTH))
  }

  /** A mapping with only these keys. */
  mapping(value: unknown, path: string, keys: readonly string[]): Record<string, unknown> {
    if (value === undefined || value === null) return {}
    if (typeof value !== 'object' || Array.isArray(value)) return this.#fault(path, value, 'a mapping', {})
    for (const key of Object.keys(value))
      if (!keys.includes(key)) this.#fault(join(path, key), key, knownKey(key, keys), null)
    return value as Record<string, unknown>
  }

  list(value: unknown, path: string): readonly unknown[] {
    if (value === undefined || value === null) return []
    return Array.isArray(value) ? value : this.#fault(path, value, 'a list', [])
  }

  /** `unit` is reported with the range: a number that is off by a factor usually has another unit. */
  integer(
    value: unknown,
    path: string,
    [min, max, unit]: readonly [min: number, max: number, unit?: string],
    otherwise?: number,
  ): number {
    if (value === undefined && otherwise !== undefined) return otherwise
    const isGood = typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
    const expected = `an integer from ${min} to ${max}${unit === undefined ? '' : `, in ${unit}`}`
    return isGood ? value : this.#fault(path, value, expected, otherwise ?? min)
  }

  flag(value: unknown, path: string, otherwise: boolean): boolean {
    if (value === undefined) return otherwise
    return typeof value === 'boolean' ? value : this.#fault(path, value, 'true or false', otherwise)
  }

  text(value: unknown, path: string, expected: string, pattern: RegExp, otherwise?: string): string {
    if (value === undefined && otherwise !== undefined) return otherwise
    return typeof value === 'string' && pattern.test(value)
      ? value
      : this.#fault(path, value, expected, otherwise ?? '')
  }

  /** A text that may contain a key: a fault shows only its scheme. */
  url(value: unknown, path: string, schemes: readonly string[]): string {
    const text = typeof value === 'string' ? value.trim() : ''
    const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
    if (scheme !== undefined && schemes.includes(scheme) && URL.canParse(text)) return text
    const received =
      value === undefined || value === null
        ? 'nothing'
        : typeof value !== 'string'
          ? typeof value
          : text === ''
            ? 'an empty text'
            : scheme === undefined
              ? 'a text without a scheme [redacted]'
              : `${scheme}://[redacted]`
    const expected = `a URL of ${schemes.join(', ')}, such as ${schemes[0]}://host:8545`
    this.faults.push({ path, received, expected })
    return ''
  }

  address(value: unknown, path: string): `0x${string}` {
    const text = this.text(value, path, 'an address: 0x and 40 hex digits', /^0x[0-9a-fA-F]{40}$/)
    // One wrong digit is another account: mixed case contains a checksum, and it must be valid.
    const isMixed = /[a-f]/.test(text) && /[A-F]/.test(text)
    if (isMixed && checksummed(text) !== text)
      this.#fault(
        path,
        text,
        'an address with a valid checksum (EIP-55); copy it again, or write it in lower case',
        null,
      )
    return text.toLowerCase() as `0x${string}`
  }

  /** Reports every entry whose key occurred before. */
  unique<Item>(items: readonly Item[], path: string, key: string, keyOf: (item: Item) => unknown): void {
    const seen = new Map<unknown, number>()
    for (const [at, item] of items.entries()) {
      const first = seen.get(keyOf(item))
      if (first === undefined) seen.set(keyOf(item), at)
      else
        this.#fault(
          key === '' ? join(path, at) : join(join(path, at), key),
          keyOf(item),
          `a value not listed before; ${join(path, first)} already has it`,
          null,
        )
    }
  }

  /** Addresses and networks, such as 10.0.0.0/8. */
  networks(value: unknown, path: string): string[] {
    return this.list(value, path).map((each, at) => {
      const text = this.text(each, join(path, at), NETWORK.expected, NETWORK.form)
      const [address = '', bits = '0'] = text.split('/')
      const isGood = isIP(address) !== 0 && Number(bits) <= (isIP(address) === 6 ? 128 : 32)
      return isGood || text === '' ? text : this.#fault(join(path, at), text, NETWORK.expected, '')
    })
  }

  hash(value: unknown, path: string): `0x${string}` {
    return this.text(
      value,
      path,
      'a hash: 0x and 64 hex digits',
      /^0x[0-9a-fA-F]{64}$/,
    ).toLowerCase() as `0x${string}`
  }

  choice<Choice extends string>(
    value: unknown,
    path: string,
    choices: readonly Choice[],
    otherwise?: Choice,
  ): Choice {
    if (value === undefined && otherwise !== undefined) return otherwise
    return choices.includes(value as Choice)
      ? (value as Choice)
      : this.#fault(path, value, `one of ${choices.join(', ')}`, choices[0] as Choice)
  }

  fault(path: string, value: unknown, expected: string): void {
    this.#fault(path, value, expected, null)
  }

  #fault<Value>(path: string, value: unknown, expected: string, stand: Value): Value {
    const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? typeof value)
    // A value may contain a secret: text that looks like a URL is never shown.
    const received =
      /:\/\//.test(text) || this.#isHidden(text)
        ? '[redacted]'
        : text.length > SHOWN
          ? `${text.slice(0, SHOWN)}…`
          : text
    this.faults.push({ path: this.#isHidden(path) ? '[redacted]' : path, received, expected })
    return stand
  }

  #isHidden(text: string): boolean {
    return this.#hidden.some(each => text.includes(each) || text.includes(JSON.stringify(each).slice(1, -1)))
  }
}

export const join = (path: string, key: string | number): string =>
  path === '' ? String(key) : typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`

/** Lists the known keys; the one that was probably meant comes first. */
function knownKey(key: string, keys: readonly string[]): string {
  const stem = (name: string) => name.replace(/_(ms|s|h|hours|seconds|blocks)$/, '')
  const near = keys.find(
    each => stem(each) === stem(key) || distance(each, key) <= Math.min(SLIP, key.length / 2),
  )
  const list = `one of ${keys.join(', ')}`
  return near === undefined ? list : `${near}, if you meant that; ${list}`
}

/** Letters to add, drop or change (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, letter] of a.split('').entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++)
      next.push(
        Math.min(
          (row[j + 1] as number) + 1,
          (next[j] as number) + 1,
          (row[j] as number) + (letter === b[j] ? 0 : 1),
        ),
      )
    row = next
  }
  return row[b.length] as number
}
