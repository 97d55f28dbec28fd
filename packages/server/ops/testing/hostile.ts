/**
 * What people who mean harm send, and what every reader of outside bytes must hold against it: no failure but its own kind, no
 * long computing, nothing changed that all objects share, and no secret in a message.
 *
 * ASSAY_CASES_SCALE=10 makes ten times as many cases.
 */
import * as fc from 'fast-check'
import { expect, vi } from 'vitest'

const SCALE = Number(process.env['ASSAY_CASES_SCALE'] ?? 1)
/**
 * A guard against computing without end, in processor time of this thread, so that a busy machine is no fault. Everything here is
 * done in milliseconds, on a slow machine in hundreds.
 */
const MAX_CPU_MS = 30_000

/** Per test, for a machine a tenth as fast as ours. */
vi.setConfig({ testTimeout: 120_000 * SCALE })

export const runs = (base: number): { readonly numRuns: number } => ({ numRuns: base * SCALE })

/** Stands where a key or a password would. */
export const SECRET = 'hunter2-4f1c9b7e'

const SHARED = [Object.prototype, Array.prototype, Function.prototype, String.prototype]
const UNTOUCHED = SHARED.map(each => Object.getOwnPropertyNames(each).length)

/** Keys that mean something to an object nobody gave them. */
const TRAPS = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'toJSON', 'then', 'length', '']

export const text = (size = 60): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: size }),
    // Code units: halves of letters among them.
    fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 })
      .map(units => String.fromCharCode(...units)),
    fc.constantFrom(
      ...TRAPS,
      '\0',
      '\ud800',
      '\udc00\ud800',
      '\u202e',
      '\ufeff',
      '%',
      '%ff',
      '%00',
      '%zz',
      '٣',
      '1e309',
      '-0',
      '0x',
      'NaN',
      '../../etc/passwd',
      "' OR 1=1 --",
      '\r\nx: y',
      'a'.repeat(5000),
      '\\'.repeat(999),
      '"'.repeat(99),
    ),
  )

const NUMBERS = [
  '0',
  '-0',
  '-1',
  '1.5',
  '1e999',
  '-1e999',
  '1e-999',
  '9007199254740993',
  '9'.repeat(400),
  '18446744073709551616',
]

/** Deeper ones have tests of their own: YAML takes long to read them. */
const DEEP = 100
const nested = (open: string, close: string, depth: number): string =>
  `${open.repeat(depth)}0${close.repeat(depth)}`

/** A text of JSON with these keys and, here and there, values that belong to them. */
export function jsonText(keys: readonly string[], values: readonly string[] = ['0']): fc.Arbitrary<string> {
  return fc.letrec<{ readonly value: string }>(tie => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom('null', 'true', 'false', ...NUMBERS),
      fc.constantFrom(...values),
      text().map(each => JSON.stringify(each)),
      fc.array(tie('value'), { maxLength: 5 }).map(each => `[${each.join()}]`),
      fc
        .array(fc.tuple(fc.constantFrom(...keys, ...keys, ...TRAPS), tie('value')), { maxLength: 8 })
        .map(each => `{${each.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`),
      fc.constantFrom(nested('[', ']', DEEP), nested('{"a":', '}', DEEP)),
    ),
  })).value
}

/** The same, with some of it cut out and something else put in. */
export const spoiled = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(
      texts,
      fc.array(
        fc.tuple(
          fc.double({ min: 0, max: 1, noNaN: true }),
          fc.nat({ max: 4 }),
          fc.oneof(text(4), fc.constantFrom(...',:[]{}"\\*&!|>#-'.split(''))),
        ),
        { maxLength: 3 },
      ),
    )
    .map(([whole, faults]) =>
      faults.reduce((rest, [share, cut, put]) => {
        const at = Math.floor(share * rest.length)
        return rest.slice(0, at) + put + rest.slice(at + cut)
      }, whole),
    )

/** What it gave, or null for a failure of its own kind. Everything else is a fault. */
export function survive<Result>(
  task: () => Result,
  isOwn: (failure: unknown) => boolean = () => false,
): Result | null {
  const before = process.threadCpuUsage()
  let result: Result | null = null
  try {
    result = task()
  } catch (failure) {
    if (!isOwn(failure)) throw failure
    const { message } = failure as Error
    if (message.includes(SECRET)) expect.fail(`a message reveals a secret: ${message}`)
  }
  const { user, system } = process.threadCpuUsage(before)
  const tookMs = (user + system) / 1000
  if (tookMs > MAX_CPU_MS) expect.fail(`it took ${tookMs} ms`)
  expectUntouched()
  return result
}

/** Nobody has written to what all objects share. */
export function expectUntouched(): void {
  for (const [at, each] of SHARED.entries()) {
    const keys = Object.getOwnPropertyNames(each)
    if (keys.length !== UNTOUCHED[at]) expect.fail(`a prototype now has ${keys.join()}`)
  }
}
