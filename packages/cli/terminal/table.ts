/** Aligned columns: words to the left, numbers to the right, and a heading on terminals. */
import { stripVTControlCharacters } from 'node:util'
import { paint } from './paint.ts'

export type Column = { readonly title: string; readonly align?: 'left' | 'right' }

/** Lines have no trailing blanks, so that a table can be compared and cut as text. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  return tableLines(columns, rows).join('\n')
}

export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...rows.map(row => widthOf(row[at] ?? ''))),
  )
  const line = (cells: readonly string[]) =>
    columns
      .map(({ align }, at) => padded(cells[at] ?? '', widths[at] as number, align ?? 'left'))
      .join('  ')
      .trimEnd()
  return [paint('bold', line(columns.map(({ title }) => title))), ...rows.map(line)]
}

/** Colour codes take no width. */
export const widthOf = (text: string): number => stripVTControlCharacters(text).length

function padded(text: string, width: number, align: 'left' | 'right'): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(text)))
  return align === 'left' ? text + blanks : blanks + text
}

/** Name and value, one pair per line. */
export function facts(pairs: readonly (readonly [name: string, value: string] | null)[]): string {
  const shown = pairs.filter(pair => pair !== null)
  const width = Math.max(...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${paint('dim', name.padEnd(width))}  ${value}`).join('\n')
}
