/**
 * A table of any length that renders only the visible rows. Rows are equally high, so the scroll position alone
 * determines which are visible; screen readers get each row's index in the whole table.
 */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

export const ROW_PX = 40
/** Extra rows beyond both edges, so that fast scrolling does not show blank space. */
const SPARE = 8

type Props = {
  readonly about: string
  readonly count: number
  readonly columns: number
  readonly head: ComponentChildren
  readonly row: (at: number) => ComponentChildren
}

export function WindowedTable({ about, count, columns, head, row }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 600 })
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight })
    look()
    element.addEventListener('scroll', look, { passive: true })
    const resized = new ResizeObserver(look)
    resized.observe(element)
    return () => {
      element.removeEventListener('scroll', look)
      resized.disconnect()
    }
  }, [])
  const from = Math.max(0, Math.min(Math.floor(view.top / ROW_PX) - SPARE, count - 1))
  const to = Math.min(count, Math.ceil((view.top + view.height) / ROW_PX) + SPARE)
  return (
    <div class="windowed" ref={box} tabIndex={0} role="region" aria-label={about}>
      <table aria-rowcount={count + 1}>
        <thead>{head}</thead>
        <tbody>
          <Space rows={from} columns={columns} />
          {Array.from({ length: Math.max(0, to - from) }, (_, at) => row(from + at))}
          <Space rows={count - to} columns={columns} />
        </tbody>
      </table>
    </div>
  )
}

const Space = ({ rows, columns }: { readonly rows: number; readonly columns: number }) =>
  rows <= 0 ? null : (
    <tr aria-hidden="true" class="space">
      <td colSpan={columns} style={{ height: `${rows * ROW_PX}px` }} />
    </tr>
  )
