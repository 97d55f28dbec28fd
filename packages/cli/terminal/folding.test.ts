/** Tables in terminals of fixed widths: what is cut, what folds away, and what takes its place. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FoldingColumn, foldedLines } from './folding.ts'

type Row = { readonly name: string; readonly price: string | null; readonly why: string }

const COLUMNS: readonly FoldingColumn<Row>[] = [
  { key: 'name', title: 'Token', text: ({ name }) => name, least: 8 },
  {
    key: 'price',
    title: 'Price',
    align: 'right',
    text: (row, isShown) => row.price ?? (isShown('why') ? '–' : row.why),
  },
  { key: 'why', title: '', text: ({ why }) => why, rank: 2 },
  { key: 'more', title: 'More', text: () => 'healthy', rank: 1 },
]
const ROWS: readonly Row[] = [
  { name: 'WETH', price: '$3,000.25', why: 'High' },
  { name: 'A rather long name', price: null, why: 'NO_ROUTE' },
]
const at = (width: number, rows = ROWS) => foldedLines(COLUMNS, rows, width)

describe('a table', () => {
  it('is printed whole when it fits', () => {
    expect(at(80)).toEqual([
      'Token                   Price            More',
      'WETH                $3,000.25  High      healthy',
      'A rather long name          –  NO_ROUTE  healthy',
    ])
    expect(at(48)).toEqual(at(80))
  })

  it('shortens what may be shortened first, and only as far as needed', () => {
    expect(at(44)).toEqual([
      'Token               Price            More',
      'WETH            $3,000.25  High      healthy',
      'A rather long…          –  NO_ROUTE  healthy',
    ])
  })

  it('then folds columns by rank, and shows their text in the remaining ones', () => {
    expect(at(30)[2]).toBe('A rather…          –  NO_ROUTE')
    expect(at(24)).toEqual([
      'Token              Price',
      'WETH           $3,000.25',
      'A rather lon…   NO_ROUTE',
    ])
  })

  it('shows a name with line breaks or colours as one plain line', () => {
    const name = '\u001B[31mEVIL\n\tNAME'
    expect(at(80, [{ name, price: '$1', why: 'Low' }])[1]).toBe('EVIL NAME     $1  Low  healthy')
  })

  it('is never wider than the terminal while its columns can fold or be shortened', () => {
    const row = fc.record({
      name: fc.string({ maxLength: 50 }),
      price: fc.option(fc.stringMatching(/^\$\d{1,9}$/)),
      why: fc.constantFrom('High', 'NO_ROUTE', 'STABLE_SUSPENDED'),
    })
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), fc.integer({ min: 26, max: 120 }), (rows, width) => {
        for (const line of at(width, rows)) expect(line.length).toBeLessThanOrEqual(width)
      }),
    )
  })
})
