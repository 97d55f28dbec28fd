/** docs/RULES.md and the tests agree: every rule is named by a test, and every name that is used is a rule. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { DEFAULT_POLICY } from '@assay/engine'
import { CAP_CODES, EXCLUSIONS, REJECTION_RULES, UNPRICED_REASONS } from '@assay/sdk/wire'
import { expect, test } from 'vitest'

const PAGE = 'docs/RULES.md'

/** A name, whole: `R-ticks-5` is not in `R-ticks-50`. */
const NAME = /\bR-[a-z]+-\d+\b/g
/** Names at the start of a title: of a test, a table of tests, or a group of them. */
const TITLE =
  /(?:\b(?:it|test|describe)(?:\.each\([^\n]*\))?|\)|\])\(\s*['"`]((?:(?:R-[a-z]+-\d+|[A-Z]\d+)(?:, |: ))+)/g
/** How the papers behind the rules were cited before the rules had names. */
const PAPER = /\b(?:contract|spec|specification|users)(?:\.md)? \(?§|['"`]§\d/i

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter(file => /\.(?:tsx?|js|py|md|ya?ml|json|html|sh)$/.test(file) && existsSync(file))
const text = (file: string): string => readFileSync(file, 'utf8')
const namesIn = (part: string): string[] => part.match(NAME) ?? []

const rules = [...text(PAGE).matchAll(/^\*\*(R-[^*]*)\*\*/gm)].map(match => match[1] as string)
const namedBy = new Map(
  files
    .filter(file => file.endsWith('.test.ts'))
    .map(file => [file, [...text(file).matchAll(TITLE)].flatMap(match => namesIn(match[1] as string))]),
)
const named = [...namedBy.values()].flat()

test('the page and the titles are read', () => {
  expect(rules.length).toBeGreaterThan(200)
  expect(named.length).toBeGreaterThan(400)
})

test('every rule has a topic and a number: from 1 on, in order, without holes, none twice', () => {
  const topics = new Map<string, number>()
  const wrong = rules.filter(rule => {
    const [, topic, number] = /^R-([a-z]+)-([1-9]\d*)$/.exec(rule) ?? []
    if (topic === undefined) return true
    const next = (topics.get(topic) ?? 0) + 1
    topics.set(topic, next)
    return Number(number) !== next
  })
  expect(wrong).toEqual([])
})

test('every rule is named in the title of a test', () => {
  const held = new Set(named)
  expect(rules.filter(rule => !held.has(rule))).toEqual([])
})

test('every test file of the engine names a rule', () => {
  const nameless = [...namedBy].filter(
    ([file, names]) => names.length === 0 && file.startsWith('packages/engine/'),
  )
  expect(nameless.map(([file]) => file)).toEqual([])
})

test('every rule name used in code, tests or pages exists', () => {
  const known = new Set(rules)
  const unknown = files.flatMap(file =>
    namesIn(text(file)).flatMap(name => (known.has(name) ? [] : [`${file}: ${name}`])),
  )
  expect(unknown.filter(each => !each.startsWith('scripts/rules.test.ts: '))).toEqual([])
})

test('nothing cites the papers that the rules replaced', () => {
  const citing = files
    .filter(file => file !== 'CHANGELOG.md' && file !== 'scripts/rules.test.ts')
    .flatMap(file =>
      text(file)
        .split('\n')
        .flatMap((line, at) => (PAPER.test(line) ? [`${file}:${at + 1} ${line.trim()}`] : [])),
    )
  expect(citing).toEqual([])
})

test('the page has every number of the policy with its default, and every code', () => {
  const shown = {}
  for (const [, key = '', value = ''] of text(PAGE).matchAll(/^\| `([a-z_.]+)` \| `(.+?)` \| .+ \|$/gm))
    setAt(shown, key.split('.'), JSON.parse(value))
  expect(shown).toEqual(DEFAULT_POLICY)
  const codes = [...CAP_CODES, ...EXCLUSIONS, ...REJECTION_RULES, ...UNPRICED_REASONS]
  expect(codes.filter(code => !text(PAGE).includes(`\`${code}\``))).toEqual([])
})

function setAt(
  target: Record<string, unknown>,
  [key = '', ...rest]: readonly string[],
  value: unknown,
): void {
  if (rest.length === 0) target[key] = value
  else setAt((target[key] ??= {}) as Record<string, unknown>, rest, value)
}
