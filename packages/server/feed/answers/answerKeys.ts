/** Finds the keys of logs and receipts that we read in the bytes of an answer, comparing four bytes at a time. */

/** One bit for each key that we read. */
export const BIT = {
  address: 1 << 0,
  topics: 1 << 1,
  data: 1 << 2,
  blockHash: 1 << 3,
  blockNumber: 1 << 4,
  transactionHash: 1 << 5,
  transactionIndex: 1 << 6,
  logIndex: 1 << 7,
  removed: 1 << 8,
  logs: 1 << 9,
  logsBloom: 1 << 10,
  status: 1 << 11,
  type: 1 << 12,
  cumulativeGasUsed: 1 << 13,
  jsonrpc: 1 << 14,
  id: 1 << 15,
  result: 1 << 16,
  depositNonce: 1 << 17,
  depositReceiptVersion: 1 << 18,
  blockTimestamp: 1 << 19,
} as const

const PLACE = BIT.blockHash | BIT.blockNumber | BIT.transactionHash | BIT.transactionIndex
export const LOG = PLACE | BIT.address | BIT.topics | BIT.data | BIT.logIndex
export const LOG_KEYS = LOG | BIT.removed | BIT.blockTimestamp
export const RECEIPT = PLACE | BIT.logs | BIT.logsBloom | BIT.status | BIT.cumulativeGasUsed
export const RECEIPT_KEYS =
  RECEIPT | BIT.type | BIT.depositNonce | BIT.depositReceiptVersion | BIT.blockTimestamp
export const ENVELOPE = BIT.jsonrpc | BIT.id | BIT.result

/**
 * The key as JSON spells it, with quotes and colon: its length, and its bytes in groups of four. The last group is
 * always the last four bytes and may overlap the one before.
 */
export type Key = {
  readonly bit: number
  readonly place: number
  readonly length: number
  readonly first: number
  readonly fours: Int32Array
}

export const KEYS: readonly Key[] = Object.entries(BIT).map(([name, bit], place) => keyOf(name, bit, place))
/** A key that we do not read; also stands for "no key yet". */
export const OTHER: Key = keyOf('', 0, KEYS.length)

function keyOf(name: string, bit: number, place: number): Key {
  const bytes = Buffer.from(`"${name}":`)
  const starts = Array.from({ length: bytes.length >> 2 }, (_, n) => 4 * n)
  if (bytes.length >= 4) starts.push(bytes.length - 4)
  const fours = Int32Array.from(starts, at => bytes.readInt32LE(at))
  return { bit, place, length: bytes.length, first: bytes[1] as number, fours }
}

/** No two of the keys share both length and first letter. */
const MAX_LENGTH = 31
const slotOf = (length: number, first: number): number => (length << 7) | (first & 127)
const KNOWN: Key[] = Array.from({ length: (MAX_LENGTH + 1) << 7 }, () => OTHER)
for (const key of KEYS) KNOWN[slotOf(key.length, key.first)] = key

/** The only key with this length and first letter; the caller still has to compare the bytes. */
export const candidate = (length: number, first: number): Key =>
  length > MAX_LENGTH ? OTHER : (KNOWN[slotOf(length, first)] ?? OTHER)

/** Whether exactly this key is at the offset. */
export function isKeyAt(view: DataView, at: number, { fours, length }: Key): boolean {
  if (at + length > view.byteLength) return false
  const last = fours.length - 1
  for (let n = 0; n < last; n++) if (view.getInt32(at + 4 * n, true) !== fours[n]) return false
  return view.getInt32(at + length - 4, true) === fours[last]
}
