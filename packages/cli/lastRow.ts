/** The last whole row of a CSV or NDJSON export, from the end of the file: no cell of ours has a line break in it. */

export type LastRow = {
  readonly sequence: number
  /** Characters that follow it. */
  readonly behind: number
}

/** Null where no whole row is in it; a header is none. */
export function lastRow(tail: string, format: 'csv' | 'ndjson'): LastRow | null {
  const end = format === 'csv' ? '\r\n' : '\n'
  const last = tail.lastIndexOf(end)
  if (last < 0) return null
  const start = tail.lastIndexOf(end, last - 1)
  const line = tail.slice(start < 0 ? 0 : start + end.length, last)
  const found = format === 'csv' ? /^(\d+),/.exec(line) : /^\{"sequence":(\d+),/.exec(line)
  if (found?.[1] === undefined) return null
  return { sequence: Number(found[1]), behind: tail.length - last - end.length }
}
