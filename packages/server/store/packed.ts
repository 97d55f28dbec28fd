/**
 * Compressed texts of the store: one byte for the dictionary, a zstd frame, and a checksum of every kilobyte, so that
 * `db check` can name the damaged page and not only the row.
 */
import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { StoreError } from './storeError.ts'

/** Typical content of a kind of text. Append only: every text stores the index of its dictionary. */
export type Dictionaries = readonly (Buffer | null)[]
export const PLAIN: Dictionaries = [null]

const PIECE_BYTES = 1024
const SUM_BYTES = 4
/** Texts of digits and hex: higher levels take twice as long, and make them longer. */
const LEVEL = 1

export function pack(text: string, dictionaries: Dictionaries = PLAIN): Buffer {
  const newest = dictionaries.length - 1
  const frame = zstdCompressSync(text, { ...FAST, ...optionsOf(dictionaries[newest] ?? null) })
  const length = 1 + frame.length
  const packed = Buffer.allocUnsafe(length + piecesOf(length) * SUM_BYTES)
  packed[0] = newest
  frame.copy(packed, 1)
  for (let at = 0, piece = 0; at < length; at += PIECE_BYTES, piece++)
    packed.writeUInt32LE(sumOf(packed, at, length), length + piece * SUM_BYTES)
  return packed
}

export function unpack(packed: Uint8Array, dictionaries: Dictionaries = PLAIN): string {
  const dictionary = dictionaries[packed[0] ?? -1]
  try {
    if (dictionary === undefined) throw new RangeError('a dictionary that this program does not have')
    const length = lengthIn(packed)
    return zstdDecompressSync(packed.subarray(1, length), optionsOf(dictionary)).toString()
  } catch (cause) {
    throw new StoreError('STORE_CORRUPT', 'A compressed text of the database is damaged.', { cause })
  }
}

/** The offset of the first damaged kilobyte; null if there is none. */
export function damageIn(packed: Buffer): number | null {
  const length = lengthIn(packed)
  for (let at = 0, piece = 0; at < length; at += PIECE_BYTES, piece++)
    if (sumOf(packed, at, length) !== packed.readUInt32LE(length + piece * SUM_BYTES)) return at
  return length > 1 ? null : 0
}

const sumOf = (packed: Buffer, at: number, length: number): number =>
  crc32(packed.subarray(at, Math.min(at + PIECE_BYTES, length)))

const piecesOf = (length: number): number => Math.ceil(length / PIECE_BYTES)
/** Without the trailing checksums. */
const lengthIn = ({ length }: Uint8Array): number =>
  length - Math.ceil(length / (PIECE_BYTES + SUM_BYTES)) * SUM_BYTES

const FAST = { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } } as const
const optionsOf = (dictionary: Buffer | null) => (dictionary === null ? {} : { dictionary })
