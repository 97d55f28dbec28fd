import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CAP_CODES, UNPRICED_REASONS } from '@assay/sdk'
import { detailText } from './app/operations/auditDetail.ts'
import { CAP_WORDS } from './app/parts/capWords.ts'
import { SELL_REASON_WORDS, sellVerdict, taxText } from './app/token/sellWords.ts'
import { UNPRICED_WORDS } from './app/token/unpricedWords.ts'

it.each([
  ['cap', CAP_CODES, CAP_WORDS],
  ['reason without a price', UNPRICED_REASONS, UNPRICED_WORDS],
] as const)('every %s of the catalogue has a text, and no text is left over', (_, codes, words) => {
  expect(Object.keys(words).sort()).toEqual([...codes].sort())
  for (const text of Object.values(words)) expect(text).toMatch(/^\S.{10,}[^.]$/)
})

it('every probe reason in the docs has a text', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/SELLABILITY.md'), 'utf8')
  const said = docs.matchAll(/^\| `([A-Z_]+)` \|/gm)
  expect([...said].map(([, code]) => code).sort()).toEqual(Object.keys(SELL_REASON_WORDS).sort())
})

it('a tax that was not measured is not shown as none, and a verdict always has its reason', () => {
  expect([null, 0, 1, 50, 525, 10_000].map(taxText)).toEqual([
    'not measured',
    'none',
    '0.01%',
    '0.5%',
    '5.25%',
    '100%',
  ])
  const found = { status: 'UNKNOWN', reason: null } as Parameters<typeof sellVerdict>[0]
  expect(sellVerdict(found)).toBe('Not known, because no reason was given.')
})

it('the detail of a change is text: lists without brackets, times as dates, and nothing of what has no value', () => {
  const detail = { consumer: 'desk', scopes: ['read', 'admin'], expires_at_ms: null, limits: { burst: 7 } }
  expect(detailText(JSON.stringify(detail))).toBe(
    'consumer: desk · scopes: read, admin · limits: {"burst":7}',
  )
  expect(detailText('{"expires_at_ms": 1763560000000}')).toMatch(/^expires 19 Nov 2025, \d\d:\d\d:40$/)
})
