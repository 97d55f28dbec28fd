/**
 * The hash of a header from its own fields: keccak256 of their RLP in the order of the yellow paper (4.4) and the
 * forks since. A header whose fields give its hash cannot be made up, and neither can what it commits to.
 */
import type { Hex } from '../ops/config.ts'
import { type Fields, FieldError, toBytes, toHash, toHex, toQuantity } from './answer.ts'
import { keccak256 } from '../ops/keccak.ts'
import { encodeRlp, integer } from './rlp.ts'

type Read = (fields: Fields, name: string) => Hex
type Field = readonly [name: string, read: Read]

const quantity: Read = (fields, name) => integer(toQuantity(fields, name))
const bytesOf =
  (count: number): Read =>
  (fields, name) =>
    toHex(fields, name, count)

const ALWAYS: readonly Field[] = [
  ['parentHash', toHash],
  ['sha3Uncles', toHash],
  ['miner', bytesOf(20)],
  ['stateRoot', toHash],
  ['transactionsRoot', toHash],
  ['receiptsRoot', toHash],
  ['logsBloom', bytesOf(256)],
  ['difficulty', quantity],
  ['number', quantity],
  ['gasLimit', quantity],
  ['gasUsed', quantity],
  ['timestamp', quantity],
  ['extraData', toBytes],
  ['mixHash', toHash],
  ['nonce', bytesOf(8)],
]

/** Each fork appended some: London, Shanghai, Cancun (three), Prague. */
const SINCE: readonly Field[] = [
  ['baseFeePerGas', quantity],
  ['withdrawalsRoot', toHash],
  ['blobGasUsed', quantity],
  ['excessBlobGas', quantity],
  ['parentBeaconBlockRoot', toHash],
  ['requestsHash', toHash],
]

/** What nodes put beside the header: its own hash, the body, and what they derive (56 and 42161 have some of theirs). */
const BESIDE: ReadonlySet<string> = new Set([
  'hash',
  'size',
  'totalDifficulty',
  'transactions',
  'uncles',
  'withdrawals',
  'milliTimestamp',
  'l1BlockNumber',
  'sendCount',
  'sendRoot',
  'author',
])

const KNOWN: ReadonlySet<string> = new Set([...[...ALWAYS, ...SINCE].map(([name]) => name), ...BESIDE])

/**
 * True when the fields give the hash. False when they do not but hold a field we do not know, as after a fork that appended
 * one: that is no proof of anything. Throws where the fields are the known ones and the hash is another's.
 */
export function isOwnHash(fields: Fields, hash: Hex): boolean {
  const since = SINCE.slice(0, countPresent(fields))
  const list = [...ALWAYS, ...since].map(([name, read]) => read(fields, name))
  const own = `0x${keccak256(encodeRlp(list)).toString('hex')}`
  if (own === hash) return true
  if (Object.keys(fields).some(name => !KNOWN.has(name))) return false
  throw new FieldError(`its fields give the hash ${own}, it carries ${hash}`)
}

function countPresent(fields: Fields): number {
  const missing = SINCE.findIndex(([name]) => fields[name] === undefined || fields[name] === null)
  return missing === -1 ? SINCE.length : missing
}
