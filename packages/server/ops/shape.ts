/**
 * Reads untrusted values out of a parsed document and gathers every fault on the way: a configuration is told all
 * that is wrong with it at once, each with its path, what was received and what was expected.
 */

export type Fault = { readonly path: string; readonly received: string; readonly expected: string }

const SHOWN = 60

export class Shape {
  readonly faults: Fault[] = []

  /** A mapping with these keys and no others. */
  mapping(value: unknown, path: string, keys: readonly string[]): Record<string, unknown> {
    if (value === undefined || value === null) return {}
    if (typeof value !== 'object' || Array.isArray(value)) return this.#fault(path, value, 'a mapping', {})
    for (const key of Object.keys(value))
      if (!keys.includes(key)) this.#fault(join(path, key), key, `one of ${keys.join(', ')}`, null)
    return value as Record<string, unknown>
  }

  list(value: unknown, path: string): readonly unknown[] {
    if (value === undefined || value === null) return []
    return Array.isArray(value) ? value : this.#fault(path, value, 'a list', [])
  }

  integer(value: unknown, path: string, min: number, max: number, otherwise?: number): number {
    if (value === undefined && otherwise !== undefined) return otherwise
    const isGood = typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
    return isGood ? value : this.#fault(path, value, `an integer from ${min} to ${max}`, otherwise ?? min)
  }

  text(value: unknown, path: string, expected: string, pattern: RegExp, otherwise?: string): string {
    if (value === undefined && otherwise !== undefined) return otherwise
    return typeof value === 'string' && pattern.test(value)
      ? value
      : this.#fault(path, value, expected, otherwise ?? '')
  }

  address(value: unknown, path: string): `0x${string}` {
    return this.text(
      value,
      path,
      'an address: 0x and 40 hex digits',
      /^0x[0-9a-fA-F]{40}$/,
    ).toLowerCase() as `0x${string}`
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
    // A value may hold a secret: what looks like a URL is never shown.
    const received = /:\/\//.test(text)
      ? '[redacted]'
      : text.length > SHOWN
        ? `${text.slice(0, SHOWN)}…`
        : text
    this.faults.push({ path, received, expected })
    return stand
  }
}

export const join = (path: string, key: string | number): string =>
  path === '' ? String(key) : typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`
