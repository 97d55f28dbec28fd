import { readFileSync } from 'node:fs'
import {
  ATTACKS,
  type Attack,
  FAMILY_ATTACKS,
  judge,
  type Look,
  OTHER_FAMILIES,
  POOL_FAMILIES,
} from '@assay/world'
import { describe, expect, it, test } from 'vitest'
import { type Outcome, outcomeOf, runOnEngine } from './run.ts'
import { lineOf, stagesOf, tableOf } from './table.ts'

const PAGE = readFileSync('docs/TRUTH.md', 'utf8')

describe('on the engine', () => {
  const played = [...ATTACKS, ...FAMILY_ATTACKS].filter(({ on }) => on !== 'chain')
  it.each(played.map(attack => [attack.name, attack] as const))(
    '%s ends as expected, or as its known gap says',
    async (_, attack) => {
      const outcome = await runOnEngine(attack)
      expect(outcome.verdict, lineOf(outcome)).toBe(attack.open === undefined ? 'HELD' : 'OPEN')
    },
  )
})

describe('the corpus', () => {
  it('has at least forty attacks, each with a name of its own', () => {
    const names = ATTACKS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThanOrEqual(40)
  })

  it('has every case of the list', () => {
    const cases = [...Array(20).keys()].map(n => `T${n + 1}`)
    const named = new Set(ATTACKS.map(({ name }) => name.split(' ')[0]))
    for (const each of [...cases, 'T8b']) expect(named).toContain(each)
  })

  it('has the attacks that depend on the kind of pool in every family', () => {
    for (const title of ['Uniswap v4', 'PancakeSwap v3', 'Algebra v1'])
      for (const name of [
        'T1 young pool',
        'T4 liquidity at block ends',
        'T6 parked at block ends',
        'T13 +50% held, one pool',
      ])
        expect(FAMILY_ATTACKS.map(each => each.name)).toContain(`${name}, ${title}`)
  })

  it('is listed in docs/TRUTH.md: a cell for each family', () => {
    const names = ['attack', 'on', ...OTHER_FAMILIES.map(family => POOL_FAMILIES[family].title)]
    const table = PAGE.slice(PAGE.indexOf(`| ${names.join(' | ')} |`))
    for (const { name, written, family } of FAMILY_ATTACKS)
      for (const stage of stagesOf(written)) {
        const row = table.split('\n').find(line => line.startsWith(`| ${written.name} | ${stage} |`))
        const cells = row?.split(' | ')
        expect(cells?.[2 + OTHER_FAMILIES.indexOf(family)], `${name}: npm run attack -- --table`).toMatch(
          /: HELD/,
        )
      }
  })

  it('is listed in docs/TRUTH.md: a row for every run, with its known gap', () => {
    for (const { name, about, on, open } of ATTACKS)
      for (const stage of stagesOf({ on })) {
        const row = PAGE.split('\n').find(line =>
          line.startsWith(`| ${name} | ${about.replaceAll('|', '\\|')} | ${stage} |`),
        )
        expect(row, `${name} on ${stage}: npm run attack -- --table`).toBeDefined()
        expect(row?.includes('**OPEN**'), `${name}: npm run attack -- --table`).toBe(open !== undefined)
      }
  })
})

const attack = (more: Partial<Attack> = {}): Attack => ({
  name: 'made up',
  about: 'nothing',
  on: 'engine',
  wanted: {},
  play: async () => undefined,
  ...more,
})
const look = (more: Partial<Look> = {}): Look => ({
  token: 'T',
  usd: 1,
  score: 7,
  codes: [],
  trueUsd: 1,
  sellerUsd: 1,
  changes: null,
  ...more,
})
const faults = (of: Attack, seen: Look) => judge(of, seen).faults

describe('the measure', () => {
  test.each([
    [7, 1.05, 0],
    [7, 1.0501, 1],
    [10, 0.9499, 1],
    [6, 1.2, 0],
    [6, 1.2001, 1],
    [5, 0.8, 0],
    [5, 0.7999, 1],
    [4, 1.5, 0],
    [4, 1.5001, 1],
    [3, 90, 0],
  ])('at a score of %i a price of %f for 1 has %i faults', (score, usd, found) => {
    expect(faults(attack(), look({ score, usd }))).toHaveLength(found)
  })

  it('is the seller when an attack says so', () => {
    const seen = look({ sellerUsd: 0.31 })
    expect(faults(attack(), seen)).toHaveLength(0)
    expect(faults(attack({ against: 'seller' }), seen)).toHaveLength(1)
  })

  it('has no fault when nothing is published, unless a price is wanted', () => {
    const seen = look({ usd: null, score: 0, codes: ['NO_ROUTE'] })
    expect(faults(attack({ wanted: { atMost: 0, atLeast: 9, within: 0, code: 'X' } }), seen)).toHaveLength(0)
    expect(faults(attack({ wanted: { state: 'PRICED' } }), seen)).toHaveLength(1)
  })

  it('counts an invalid price as wrong', () => {
    expect(faults(attack(), look({ sellerUsd: Number.NaN, usd: Number.NaN }))).toHaveLength(1)
  })

  test.each([
    ['atMost', { atMost: 6 }],
    ['atLeast', { atLeast: 8 }],
    ['within', { within: 0.001 }],
    ['state', { state: 'UNPRICED' }],
    ['changes', { changes: 2 }],
    ['code', { code: 'PRICE_JUMP' }],
  ] as const)('and further expectations of an attack: %s', (_, wanted) => {
    expect(faults(attack({ wanted }), look({ usd: 1.002, changes: 3 }))).toHaveLength(1)
    expect(faults(attack(), look({ usd: 1.002, changes: 3 }))).toHaveLength(0)
  })
})

describe('a verdict', () => {
  const wrong = judge(attack(), look({ usd: 2 }))
  const right = judge(attack(), look())
  test.each([
    ['HELD', undefined, right],
    ['WRONG', undefined, wrong],
    ['OPEN', 'a rule', wrong],
    ['CLOSED', 'a rule', right],
  ] as const)('is %s when open is %s', (verdict, open, seen) => {
    const outcome = outcomeOf(attack(open === undefined ? {} : { open }), 'engine', [right, seen])
    expect(outcome.verdict).toBe(verdict)
    expect(outcome.shown).toBe(verdict === 'WRONG' || verdict === 'OPEN' ? wrong : outcome.shown)
  })

  it('is shown with the missing rule', () => {
    const outcome: Outcome = outcomeOf(attack({ open: 'a rule' }), 'engine', [wrong])
    expect(lineOf(outcome)).toContain('a rule: 100% off at a score of 7')
    expect(tableOf([outcome])).toContain('| made up | nothing | engine | 2 at 7 | 1 | 1 | **OPEN** a rule |')
  })

  it('cannot be given when nobody looked', () => {
    expect(() => outcomeOf(attack(), 'engine', [])).toThrow('never looked at')
  })
})
