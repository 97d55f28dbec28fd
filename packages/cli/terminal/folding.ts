/**
 * A table that fits a terminal's width. Where there is no room, long texts are cut first; if that is not enough, whole
 * columns fold away in the order of their rank, and what they showed that matters moves into the columns that remain.
 */
import { stripVTControlCharacters } from 'node:util'
import { paint } from './paint.ts'

/** Whether the column of this key is shown. */
export type IsShown = (key: string) => boolean

export type FoldingColumn<Row> = {
  readonly key: string
  readonly title: string
  readonly align?: 'left' | 'right'
  /** Without colours: these are added after cutting. */
  text(row: Row, isShown: IsShown): string
  paint?(row: Row, text: string, isShown: IsShown): string
  /** Columns of a low rank fold first; without a rank a column stays. */
  readonly rank?: number
  /** Its texts may be cut to this many letters. */
  readonly least?: number
  /** `text` in this many letters; by default its beginning. */
  readonly cut?: (text: string, width: number) => string
}

const GAP = 2

export function foldedLines<Row>(
  columns: readonly FoldingColumn<Row>[],
  rows: readonly Row[],
  width: number,
): string[] {
  const ranks = columns.flatMap(({ rank }) => (rank === undefined ? [] : [rank])).sort((a, b) => a - b)
  let layout = layoutOf(columns, rows, width)
  for (const folded of ranks) {
    if (layout.isFitting) break
    const left = columns.filter(({ rank }) => rank === undefined || rank > folded)
    layout = layoutOf(left, rows, width)
  }
  return linesOf(layout)
}

type Layout<Row> = {
  readonly columns: readonly FoldingColumn<Row>[]
  readonly rows: readonly Row[]
  readonly texts: readonly (readonly string[])[]
  readonly widths: readonly number[]
  readonly isShown: IsShown
  readonly isFitting: boolean
}

function layoutOf<Row>(
  columns: readonly FoldingColumn<Row>[],
  rows: readonly Row[],
  width: number,
): Layout<Row> {
  const isShown = (wanted: string) => columns.some(({ key }) => key === wanted)
  const texts = rows.map(row => columns.map(column => plain(column.text(row, isShown))))
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...texts.map(cells => (cells[at] as string).length)),
  )
  let excess = widths.reduce((sum, each) => sum + each, GAP * (columns.length - 1)) - width
  for (const [at, { least, title }] of columns.entries()) {
    if (least === undefined || excess <= 0) continue
    const natural = widths[at] as number
    const kept = Math.max(Math.min(least, natural), title.length, natural - excess)
    excess -= natural - kept
    widths[at] = kept
  }
  return { columns, rows, texts, widths, isShown, isFitting: excess <= 0 }
}

function linesOf<Row>({ columns, rows, texts, widths, isShown }: Layout<Row>): string[] {
  const line = (cells: readonly (readonly [text: string, painted: string])[]) =>
    cells
      .map(([text, painted], at) => {
        const blanks = ' '.repeat((widths[at] as number) - text.length)
        return columns[at]?.align === 'right' ? blanks + painted : painted + blanks
      })
      .join(' '.repeat(GAP))
      .trimEnd()
  const heading = line(columns.map(({ title }) => [title, title]))
  return [
    paint('bold', heading),
    ...rows.map((row, index) =>
      line(
        columns.map((column, at) => {
          const room = widths[at] as number
          const whole = texts[index]?.[at] ?? ''
          const text = whole.length <= room ? whole : (column.cut ?? beginning)(whole, room)
          return [text, column.paint?.(row, text, isShown) ?? text]
        }),
      ),
    ),
  ]
}

export const beginning = (text: string, width: number): string => `${text.slice(0, Math.max(0, width - 1))}…`

/** Names of tokens are anybody's text: one line, without colours. */
const plain = (text: string): string => stripVTControlCharacters(text).replaceAll(/\s+/g, ' ')
