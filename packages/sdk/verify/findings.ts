/**
 * The result of a verification: every number that does not follow from the others by the rules, with its path in the
 * quote and the inputs of the computation. Text that is not a number ends the reading of its part, never the process.
 */
import { type Fraction, isTooLarge, reduce, toText } from '@assay/engine/rules'
import type { ExactValue } from '../wire/quantity.ts'

export type Difference = {
  /** As in `routes[0].hops[1].ratio.numerator`. */
  readonly path: string
  readonly found: unknown
  /** The value the rules give, or the rule in words. */
  readonly expected: unknown
  /** Paths of the inputs: one of them, or the number itself, is not true. */
  readonly from: readonly string[]
}

/** Thrown if a part of the quote cannot be read further; already reported as a difference. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

export class Findings {
  readonly differences: Difference[] = []
  readonly #reported = new Set<string>()
  #checks = 0

  /** Numbers compared so far. */
  get checks(): number {
    return this.#checks
  }

  /** Compares leaf by leaf, and ignores anything that `expected` does not name. */
  same(path: string, found: unknown, expected: unknown, from: readonly string[] = []): void {
    if (Array.isArray(expected)) {
      const list = Array.isArray(found) ? (found as unknown[]) : []
      if (!Array.isArray(found) || list.length !== expected.length) {
        this.differ(path, found, expected, from)
        return
      }
      expected.forEach((each, at) => this.same(`${path}[${at}]`, list[at], each, from))
      return
    }
    if (typeof expected === 'object' && expected !== null) {
      const fields = typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : null
      if (fields === null) this.differ(path, found, expected, from)
      else
        for (const [name, each] of Object.entries(expected))
          this.same(`${path}.${name}`, fields[name], each, from)
      return
    }
    this.#checks += 1
    if (found !== expected) this.#note(path, found, expected, from)
  }

  /** Checks a rule that is not an equation. */
  holds(path: string, found: unknown, isTrue: boolean, rule: string, from: readonly string[] = []): void {
    this.#checks += 1
    if (!isTrue) this.#note(path, found, rule, from)
  }

  differ(path: string, found: unknown, expected: unknown, from: readonly string[] = []): void {
    this.#checks += 1
    this.#note(path, found, expected, from)
  }

  /** Runs a check that may find its part unreadable. */
  part(check: () => void): void {
    try {
      check()
    } catch (error) {
      // A missing field, or one of another type: a malformed quote must not crash the verifier.
      if (!(error instanceof Unreadable)) this.differ('', String(error), 'the form of a quote')
    }
  }

  exact(path: string, found: unknown, expected: Fraction, from: readonly string[]): void {
    const reduced = reduce(expected.num, expected.den)
    if (isTooLarge(reduced)) this.differ(path, found, 'a value of at most 4096 bits a side', from)
    else this.same(path, found, toText(reduced), from)
  }

  /** A whole number in wire format. */
  whole(path: string, text: unknown): bigint {
    if (typeof text === 'string' && /^(?:0|[1-9][0-9]{0,1300})$/.test(text)) return BigInt(text)
    return this.unreadable(path, text, 'digits of a whole number')
  }

  positive(path: string, text: unknown): bigint {
    const value = this.whole(path, text)
    return value > 0n ? value : this.unreadable(path, text, 'a number above 0')
  }

  /** An exact value, reduced and with a matching display. */
  value(path: string, text: ExactValue | null | undefined): Fraction {
    if (text === null || text === undefined) return this.unreadable(path, text, 'an exact value')
    const value = {
      num: this.positive(`${path}.numerator`, text.numerator),
      den: this.positive(`${path}.denominator`, text.denominator),
    }
    this.exact(path, text, value, [`${path}.numerator`, `${path}.denominator`])
    return value
  }

  /** A count, a time or a score: a JSON integer. */
  integer(path: string, value: unknown): number {
    if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
    return this.unreadable(path, value, 'a whole number')
  }

  /** Plain decimal text, which may be 0. */
  decimal(path: string, text: unknown): Fraction {
    if (typeof text !== 'string' || !/^[0-9]{1,400}(?:\.[0-9]{1,400})?$/.test(text))
      return this.unreadable(path, text, 'a decimal number')
    const [whole, fraction = ''] = text.split('.') as [string, string?]
    return { num: BigInt(whole + fraction), den: 10n ** BigInt(fraction.length) }
  }

  unreadable(path: string, found: unknown, expected: string, from: readonly string[] = []): never {
    this.differ(path, found, expected, from)
    throw new Unreadable(path)
  }

  #note(path: string, found: unknown, expected: unknown, from: readonly string[]): void {
    // Several rules read the same number; report it once.
    const key = JSON.stringify([path, expected])
    if (this.#reported.has(key)) return
    this.#reported.add(key)
    this.differences.push({ path, found: found ?? null, expected, from })
  }
}
