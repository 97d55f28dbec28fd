/**
 * Arrays as PostgreSQL sends and receives them in its binary format. As text every quote in a JSON text would be
 * escaped here and unescaped by the server, which takes longer than storing it.
 */

/** Element types by their names in a cast, with their object ids. */
const OIDS = { text: 25, bytea: 17, bigint: 20, int: 23 } as const
type Element = keyof typeof OIDS

/** Dimensions, whether there are nulls, and the type; then length and lower bound of the only dimension. */
const HEAD_BYTES = 20
const LENGTH_BYTES = 4
const NULL_LENGTH = -1

const CAST = /\$(\d+)::(text|bytea|bigint|int)\[\]/g

/** The element types of a statement's parameters, by their position from 0, where the statement casts them to arrays. */
export const arraysOf = (text: string): ReadonlyMap<number, Element> =>
  new Map([...text.matchAll(CAST)].map(([, at, element]) => [Number(at) - 1, element as Element]))

/** The parameters of a statement with its arrays encoded; anything else is as it was. */
export const encoded = (values: readonly unknown[], arrays: ReadonlyMap<number, Element>): unknown[] =>
  values.map((value, at) => {
    const element = arrays.get(at)
    return element === undefined || !Array.isArray(value) ? value : encodeArray(element, value)
  })

export function encodeArray(element: Element, values: readonly unknown[]): Buffer {
  const parts = values.map(value => partOf(element, value))
  const bytes = parts.reduce((sum, part) => sum + LENGTH_BYTES + (part?.length ?? 0), HEAD_BYTES)
  const array = Buffer.allocUnsafe(bytes)
  // An empty array has no dimension.
  array.writeInt32BE(values.length === 0 ? 0 : 1, 0)
  array.writeInt32BE(parts.includes(null) ? 1 : 0, 4)
  array.writeInt32BE(OIDS[element], 8)
  array.writeInt32BE(values.length, 12)
  array.writeInt32BE(1, 16)
  let at = HEAD_BYTES
  for (const part of parts) {
    at = array.writeInt32BE(part?.length ?? NULL_LENGTH, at)
    if (part !== null) at += part.copy(array, at)
  }
  return values.length === 0 ? array.subarray(0, HEAD_BYTES - 2 * LENGTH_BYTES) : array
}

function partOf(element: Element, value: unknown): Buffer | null {
  if (value === null || value === undefined) return null
  switch (element) {
    case 'text':
      return Buffer.from(value as string)
    case 'bytea':
      return value as Buffer
    case 'bigint': {
      const part = Buffer.allocUnsafe(8)
      part.writeBigInt64BE(BigInt(value as number))
      return part
    }
    case 'int': {
      const part = Buffer.allocUnsafe(4)
      part.writeInt32BE(value as number)
      return part
    }
  }
}
