/** A table in a box that can also be scrolled by keyboard; its rows are its children. */
import type { ComponentChildren } from 'preact'

/** `right` is for numbers, `wide` for a column that a phone has no room for; a `hidden` name is only for screen readers, in columns whose buttons need no heading. */
type Column = string | readonly [name: string, how: 'right' | 'wide' | 'right wide' | 'hidden']

type Props = {
  readonly about: string
  readonly columns: readonly Column[]
  readonly class?: string
  readonly children: ComponentChildren
}

export const Table = ({ about, columns, class: own = '', children }: Props) => (
  <div class={`scroll ${own}`} tabIndex={0} role="region" aria-label={about}>
    <table>
      <thead>
        <tr>{columns.map(headOf)}</tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)

function headOf(column: Column) {
  const [name, how = ''] = typeof column === 'string' ? [column] : column
  return (
    <th key={name} scope="col" class={how === 'hidden' ? '' : how}>
      {how === 'hidden' ? <span class="hidden">{name}</span> : name}
    </th>
  )
}
