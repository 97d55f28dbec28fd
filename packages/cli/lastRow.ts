/** The last complete row of a CSV or NDJSON export, from the end of the file. No cell contains a line break. */

export type LastRow = {
  readonly sequence: number
  /** The number of characters after it. */
  readonly behind: number
}

/** Null when there is no complete row; a header does not count. */
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
