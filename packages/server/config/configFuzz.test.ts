/** Arbitrary configuration files and environments load, or every fault is reported, without a secret. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { CONFIG_KEYS } from './reference.ts'
import { SAMPLE } from './testing/sample.ts'
import { showConfig } from './show.ts'
import { ConfigError } from './faultLog.ts'
import { environmentConfig } from './environmentConfig.ts'
import { loadConfig } from './loadConfig.ts'
import { jsonText, runs, SECRET, spoiled, survive, text } from '../ops/testing/hostile.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-config-fuzz-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'assay.yaml')

const isOwn = (failure: unknown) => failure instanceof ConfigError
const isShown = (failure: unknown) => isOwn(failure) || (failure as Error).name === 'PolicyError'

function load(yaml: string, environment: Readonly<Record<string, string>> = {}): boolean {
  writeFileSync(file, yaml)
  return survive(() => loadConfig(file, environment), isOwn) !== null
}

const KEYS = [...new Set(Object.keys(CONFIG_KEYS).map(path => path.split(/\.|\[\]/).at(-1) as string))]
const VALUES = [
  '1',
  '8080',
  '"sqlite:x"',
  '"finalized"',
  '"amm_v2"',
  `"0x${'ab'.repeat(20)}"`,
  `"0x${'ab'.repeat(32)}"`,
]
const value = jsonText(KEYS, VALUES)

/** Every place of the sample, as the steps to it. */
function placesOf(at: unknown, steps: readonly string[] = []): (readonly string[])[] {
  if (typeof at !== 'object' || at === null) return [steps]
  return [steps, ...Object.entries(at).flatMap(([key, each]) => placesOf(each, [...steps, key]))]
}

/** The sample as JSON, which is YAML, with another text in one place. */
function withText(at: unknown, [step, ...rest]: readonly string[], put: string): string {
  if (step === undefined) return put
  const inner = (key: string, each: unknown) =>
    key === step ? withText(each, rest, put) : JSON.stringify(each)
  return Array.isArray(at)
    ? `[${at.map((each, n) => inner(`${n}`, each)).join()}]`
    : `{${Object.entries(at as object)
        .map(([key, each]) => `${JSON.stringify(key)}: ${inner(key, each)}`)
        .join()}}`
}

/** Ten of ten of ten. */
const bomb = (levels: number): string =>
  Array.from({ length: levels }, (_, at) => {
    const each = at === 0 ? '0' : `*a${at - 1}`
    return `a${at}: &a${at} [${Array.from({ length: 10 }, () => each).join()}]`
  }).join('\n')

it('a file with any value in any place loads or is refused with its faults', () => {
  // With its own text in the place it loads: what is refused below is refused for the other.
  expect(load(withText(SAMPLE, ['listen', 'port'], '8081'))).toBe(true)
  fc.assert(
    fc.property(fc.constantFrom(...placesOf(SAMPLE)), value, (place, put) => {
      load(withText(SAMPLE, place, put))
    }),
    runs(120),
  )
})

it('a file of arbitrary text is reported with its faults, and so is a policy when it is shown', () => {
  const yaml = fc.oneof(spoiled(fc.constant(JSON.stringify(SAMPLE))), spoiled(value), text(300))
  fc.assert(
    fc.property(yaml, each => {
      load(each)
      survive(() => showConfig(file, {}), isShown)
    }),
    runs(60),
  )
})

it.each([
  ['a list in itself', 'chains: &a [*a]'],
  ['a mapping in itself', 'listen: &a { host: *a }'],
  ['a document in itself', '&a [*a]'],
  ['an alias of nothing', 'store: *none'],
  ['a billion of aliases', bomb(10)],
  ['a list ten thousand deep', `chains: ${'['.repeat(1e4)}${']'.repeat(1e4)}`],
  ['a mapping ten thousand deep', `chains: ${'{a: '.repeat(1e4)}1${'}'.repeat(1e4)}`],
  ['a non-string in place of a network', 'listen: { trusted_proxies: [{ toString: 1 }] }'],
  ['a non-number in place of an id', 'chains: [{ chain_id: { toString: 1, valueOf: 1 } }]'],
  ['a key that is a list', '? [a, b]\n: 1'],
  ['a tag of its own', 'store: !!js/function "x"\nlisten: !own { port: 1 }'],
  ['two documents', 'chains: []\n---\nchains: []'],
  ['a NUL', 'store: "\0"\nchains: [\0]'],
  [
    'a key of all objects',
    '__proto__: { polluted: 1 }\nchains: [{ __proto__: { a: 1 }, constructor: { prototype: 1 } }]',
  ],
  ['a megabyte of one text', `store: "${'a'.repeat(2 ** 20)}"`],
])('%s is reported as a fault', (_, yaml) => {
  expect(load(yaml)).toBe(false)
})

it('values from the environment appear in no message, wherever they are used', () => {
  const places = placesOf(SAMPLE).filter(({ length }) => length > 0)
  const around = fc.constantFrom(
    '',
    'x',
    ' ',
    '*',
    '"',
    "'",
    '{',
    '[',
    '- ',
    ': ',
    '!',
    '|\n',
    '\n',
    '\n\n  ',
  )
  const quoted = fc.constantFrom(
    '${KEY}',
    '"${KEY}"',
    "'${KEY}'",
    '[${KEY}]',
    '{${KEY}: 1}',
    '"a ${KEY} b"',
    '*${KEY}',
  )
  fc.assert(
    fc.property(fc.constantFrom(...places), quoted, around, around, (place, put, before, after) => {
      load(withText(SAMPLE, place, put), { KEY: `${before}${SECRET}${after}` })
    }),
    runs(120),
  )
})

it('variables of any text load or are refused with their faults', () => {
  const url = fc.oneof(
    text(),
    fc.constantFrom(`https://node.example/${SECRET}`, `ftp://${SECRET}`, `//${SECRET}`, SECRET, ',,', ' '),
  )
  const name = fc.constantFrom(
    'ASSAY_RPC_1',
    'ASSAY_RPC_56',
    'ASSAY_RPC_',
    'ASSAY_RPC___proto__',
    `ASSAY_RPC_${'9'.repeat(99)}`,
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.array(url, { maxLength: 3 })), { maxLength: 3 }), pairs => {
      const environment = Object.fromEntries(pairs.map(([key, urls]) => [key, urls.join()]))
      const config = survive(() => environmentConfig(environment, { folder }), isOwn)
      if (config !== null) expect(JSON.stringify(config)).not.toContain(SECRET)
    }),
    runs(120),
  )
})
