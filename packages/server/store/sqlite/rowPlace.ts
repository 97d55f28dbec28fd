/**
 * Finds the page of the database file that contains a byte of a row, by walking the table's tree as the file format
 * describes it (https://www.sqlite.org/fileformat2.html). SQLite does not report it, and a damaged row must be
 * identified by its page.
 *
 * It reads the file without SQLite, so pages still in the write-ahead log appear older here. Only for a process without
 * a claim, because closing a descriptor of the file releases all locks of the process on it.
 */
import { closeSync, openSync, readSync } from 'node:fs'

const [INTERIOR, LEAF] = [5, 13]
/** A deeper tree would exceed the largest file SQLite allows. */
const DEEPEST = 20

export type Place = { readonly root: number; readonly rowId: number; readonly column: number }

/** Null when the tree does not lead to the row. */
export function pageOf(path: string, pageBytes: number, place: Place, byte: number): number | null {
  const file = openSync(path, 'r')
  try {
    return new Tree(file, pageBytes).pageOf(place, byte)
  } catch (error) {
    // A pointer leaves its page: this tree is damaged too.
    if (error instanceof RangeError) return null
    throw error
  } finally {
    closeSync(file)
  }
}

class Tree {
  readonly #file: number
  readonly #pageBytes: number

  constructor(file: number, pageBytes: number) {
    this.#file = file
    this.#pageBytes = pageBytes
  }

  pageOf({ root, rowId, column }: Place, byte: number): number | null {
    let page = root
    for (let depth = 0; depth < DEEPEST; depth++) {
      const bytes = this.#read(page)
      const from = page === 1 ? 100 : 0
      const kind = bytes.readUInt8(from)
      if (kind === LEAF) return this.#inLeaf(page, bytes, from, rowId, column, byte)
      if (kind !== INTERIOR) return null
      page = childFor(bytes, from, rowId)
    }
    return null
  }

  #inLeaf(page: number, bytes: Buffer, from: number, rowId: number, column: number, byte: number) {
    for (const at of cells(bytes, from, 8)) {
      const [length, afterLength] = varint(bytes, at)
      const [id, start] = varint(bytes, afterLength)
      if (id !== rowId) continue
      const local = localBytes(length, this.#pageBytes)
      let skip = startOf(bytes, start, column) + byte - local
      let holder = page
      let next = local < length ? bytes.readUInt32BE(start + local) : 0
      // Each overflow page begins with the number of the next one.
      for (; skip >= 0 && next !== 0; skip -= this.#pageBytes - 4) {
        holder = next
        next = this.#read(holder).readUInt32BE(0)
      }
      return holder
    }
    return null
  }

  #read(page: number): Buffer {
    const bytes = Buffer.alloc(this.#pageBytes)
    const read = readSync(this.#file, bytes, 0, bytes.length, (page - 1) * this.#pageBytes)
    if (page < 1 || read < bytes.length) throw new RangeError(`there is no page ${page}`)
    return bytes
  }
}

function* cells(bytes: Buffer, from: number, header: number): Generator<number> {
  const count = bytes.readUInt16BE(from + 3)
  for (let at = 0; at < count; at++) yield bytes.readUInt16BE(from + header + 2 * at)
}

function childFor(bytes: Buffer, from: number, rowId: number): number {
  for (const at of cells(bytes, from, 12))
    if (varint(bytes, at + 4)[0] >= rowId) return bytes.readUInt32BE(at)
  return bytes.readUInt32BE(from + 8)
}

/** How much of a row's bytes a leaf stores; section 1.6 of the format. */
function localBytes(length: number, usable: number): number {
  const most = usable - 35
  if (length <= most) return length
  const least = Math.floor(((usable - 12) * 32) / 255) - 23
  const kept = least + ((length - least) % (usable - 4))
  return kept <= most ? kept : least
}

/** Offset of a column in the row's bytes: after the header and the columns before it. */
function startOf(bytes: Buffer, start: number, column: number): number {
  const [headerBytes, first] = varint(bytes, start)
  let at = first
  let offset = headerBytes
  for (let each = 0; each < column; each++) {
    const [type, next] = varint(bytes, at)
    offset += sizeOf(type)
    at = next
  }
  return offset
}

const SIZES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]
const sizeOf = (type: number): number => SIZES[type] ?? Math.floor((type - 12) / 2)

/** The value, and the offset after it. */
function varint(bytes: Buffer, at: number): readonly [value: number, next: number] {
  let value = 0
  for (let index = 0; index < 8; index++) {
    const byte = bytes.readUInt8(at + index)
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return [value, at + index + 1]
  }
  return [value * 256 + bytes.readUInt8(at + 8), at + 9]
}
