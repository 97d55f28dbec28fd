/**
 * The root of a Merkle Patricia trie (yellow paper, appendix D) from the RLP of each index to its value, which is how a
 * header commits to its receipts. Only the root is needed, so each node is encoded, hashed and dropped. The RLP of
 * integers is prefix-free, so no key is a prefix of another and a branch never has a value of its own.
 */
import type { Hex } from '../../ops/hex.ts'
import { keccak256 } from '../../ops/keccak.ts'
import { headSize, writeHead } from './rlp.ts'

/**
 * A key as nibbles, and a function that makes its value: values are made one at a time, because a large block has large
 * receipts.
 */
type Entry = { readonly nibbles: Uint8Array; readonly value: () => Uint8Array }

/** keccak256(rlp('')). */
const EMPTY_ROOT: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const EMPTY_CHILD = Uint8Array.of(0x80)
/** A shorter node is embedded in its parent instead of being hashed. */
const HASH_BYTES = 32

/** The root over `count` values; each value is read once. */
export function orderedTrieRoot(count: number, valueAt: (index: number) => Uint8Array): Hex {
  if (count === 0) return EMPTY_ROOT
  const entries = inKeyOrder(count).map(index => ({
    nibbles: nibblesOf(index),
    value: () => valueAt(index),
  }))
  return `0x${keccak256(nodeOf(entries, 0, entries.length, 0)).toString('hex')}`
}

/** In the order of their RLP: 1 to 127 are one byte each, 0 is 0x80, and the longer ones follow by size. */
function inKeyOrder(count: number): number[] {
  const rest = Array.from({ length: count }, (_, index) => index)
  return [...rest.slice(1, 128), 0, ...rest.slice(128)]
}

function nibblesOf(index: number): Uint8Array {
  const bytes = keyOf(index)
  const nibbles = new Uint8Array(bytes.length * 2)
  for (const [at, byte] of bytes.entries()) {
    nibbles[2 * at] = byte >> 4
    nibbles[2 * at + 1] = byte & 15
  }
  return nibbles
}

function keyOf(index: number): readonly number[] {
  if (index === 0) return [0x80]
  if (index < 0x80) return [index]
  if (index < 0x100) return [0x81, index]
  return index < 0x1_0000
    ? [0x82, index >> 8, index & 255]
    : [0x83, index >> 16, (index >> 8) & 255, index & 255]
}

/** The encoded node over the entries from `first` up to `end`, whose keys share their first `depth` nibbles. */
function nodeOf(entries: readonly Entry[], first: number, end: number, depth: number): Uint8Array {
  const low = entries[first] as Entry
  if (end - first === 1) return leafOf(low.nibbles, depth, low.value())
  // In key order, the first and the last entry share the shortest common prefix of the range.
  const high = entries[end - 1] as Entry
  let split = depth
  while (low.nibbles[split] === high.nibbles[split]) split++
  const branch = branchOf(entries, first, end, split)
  return split === depth
    ? branch
    : listOf([stringOf(hexPrefix(low.nibbles, depth, split, false)), referenceTo(branch)])
}

function branchOf(entries: readonly Entry[], first: number, end: number, depth: number): Uint8Array {
  const children: Uint8Array[] = Array.from({ length: 17 }, () => EMPTY_CHILD)
  for (let from = first; from < end; ) {
    const nibble = entries[from]?.nibbles[depth] as number
    let to = from + 1
    while (to < end && entries[to]?.nibbles[depth] === nibble) to++
    children[nibble] = referenceTo(nodeOf(entries, from, to, depth + 1))
    from = to
  }
  return listOf(children)
}

/** Encodes the rest of the key and the value; copies the value once. */
function leafOf(nibbles: Uint8Array, depth: number, value: Uint8Array): Uint8Array {
  const path = stringOf(hexPrefix(nibbles, depth, nibbles.length, true))
  // A single byte below 0x80 is its own encoding. Receipts are longer, but other values may be one byte.
  const isBare = value.length === 1 && (value[0] as number) < 0x80
  const payload = path.length + value.length + (isBare ? 0 : headSize(value.length))
  const bytes = new Uint8Array(headSize(payload) + payload)
  let at = writeHead(bytes, 0, payload, 0xc0)
  bytes.set(path, at)
  at += path.length
  if (!isBare) at = writeHead(bytes, at, value.length, 0x80)
  bytes.set(value, at)
  return bytes
}

const referenceTo = (node: Uint8Array): Uint8Array =>
  node.length < HASH_BYTES ? node : stringOf(keccak256(node))

/** Packs nibbles into bytes, with flags for a leaf and for an odd count (appendix C). */
function hexPrefix(nibbles: Uint8Array, from: number, to: number, isLeaf: boolean): Uint8Array {
  const count = to - from
  const isOdd = count % 2 === 1
  const bytes = new Uint8Array(1 + (count >> 1))
  const flag = (isLeaf ? 0x20 : 0) + (isOdd ? 0x10 : 0)
  bytes[0] = flag + (isOdd ? (nibbles[from] as number) : 0)
  for (let at = from + (isOdd ? 1 : 0), n = 1; at < to; at += 2, n++)
    bytes[n] = ((nibbles[at] as number) << 4) | (nibbles[at + 1] as number)
  return bytes
}

function stringOf(content: Uint8Array): Uint8Array {
  if (content.length === 1 && (content[0] as number) < 0x80) return content
  const bytes = new Uint8Array(headSize(content.length) + content.length)
  bytes.set(content, writeHead(bytes, 0, content.length, 0x80))
  return bytes
}

function listOf(items: readonly Uint8Array[]): Uint8Array {
  let payload = 0
  for (const item of items) payload += item.length
  const bytes = new Uint8Array(headSize(payload) + payload)
  let at = writeHead(bytes, 0, payload, 0xc0)
  for (const item of items) {
    bytes.set(item, at)
    at += item.length
  }
  return bytes
}
