/**
 * Collects the faults of a document, so that all of them are reported together, each with its path, the value received
 * and what was expected. No fault repeats text that may be a secret.
 */
export type Fault = { readonly path: string; readonly received: string; readonly expected: string }

export const faultText = ({ path, received, expected }: Fault): string =>
  `${path}: received ${received}, expected ${expected}`

const SHOWN = 60
/** A key within this edit distance counts as a typo. */
const SLIP = 3
/** Shorter parts of a variable are no secrets, and occur as ordinary words. */
const SECRET_LENGTH = 8

export class FaultLog {
  readonly faults: Fault[] = []
  readonly #hidden: string[] = []

  /** Text from elsewhere that no fault may repeat, not even in part: YAML may have split it. */
  hide(text: string): void {
    this.#hidden.push(...text.split(/[\s"'`{}[\],:*&!|>]+/).filter(({ length }) => length >= SECRET_LENGTH))
  }

  add(path: string, value: unknown, expected: string): void {
    const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? typeof value)
    // A value may contain a secret: text that looks like a URL is never shown.
    const received =
      /:\/\//.test(text) || this.#isHidden(text)
        ? '[redacted]'
        : text.length > SHOWN
          ? `${text.slice(0, SHOWN)}…`
          : text
    this.faults.push({ path: this.#isHidden(path) ? '[redacted]' : path, received, expected })
  }

  /** The expectation names the known key that was probably meant. */
  addUnknownKey(path: string, key: string, keys: readonly string[]): void {
    this.add(join(path, key), key, knownKey(key, keys))
  }

  /** Of a value that may contain a key, a fault shows only the scheme. */
  addUrl(path: string, value: unknown, expected: string): void {
    const text = typeof value === 'string' ? value.trim() : ''
    const scheme = schemeOf(text)
    const ofText = scheme === undefined ? 'a text without a scheme [redacted]' : `${scheme}://[redacted]`
    const ofString = text === '' ? 'an empty text' : ofText
    const received =
      typeof value === 'string' ? ofString : (value ?? null) === null ? 'nothing' : typeof value
    this.faults.push({ path, received, expected })
  }

  /** Reports every entry of a list whose value at this key occurred before; '' for the entry itself. */
  addRepeated(values: readonly unknown[], path: string, key: string): void {
    const seen = new Map<unknown, number>()
    for (const [at, value] of values.entries()) {
      const first = seen.get(value)
      const own = join(path, at)
      if (first === undefined) seen.set(value, at)
      else
        this.add(
          key === '' ? own : join(own, key),
          value,
          `a value not listed before; ${join(path, first)} already has it`,
        )
    }
  }

  #isHidden(text: string): boolean {
    return this.#hidden.some(each => text.includes(each) || text.includes(JSON.stringify(each).slice(1, -1)))
  }
}

export const schemeOf = (url: string): string | undefined =>
  /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase()

/** A file with more faults than this is probably not a configuration: the first ones show that. */
const FAULTS_SHOWN = 100

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly Fault[]

  constructor(file: string, faults: readonly Fault[]) {
    const lines = faults.slice(0, FAULTS_SHOWN).map(fault => `  ${faultText(fault)}`)
    if (faults.length > FAULTS_SHOWN) lines.push(`  and ${faults.length - FAULTS_SHOWN} more`)
    super(`${file} has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${lines.join('\n')}`)
    this.faults = faults
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
