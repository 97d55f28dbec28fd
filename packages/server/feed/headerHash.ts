/**
 * The hash of a header from its own fields: keccak256 of their RLP, in the order of the yellow paper (4.4) and the forks
 * since, or in that of coreth, which 43114 runs. A header whose fields give its hash cannot be made up, and neither can
 * what it commits to. Which order holds is told by the fields, not by the chain.
 */
import type { Hex, ProofRules } from '../ops/config.ts'
import { keccak256 } from '../ops/keccak.ts'
import { type Fields, FieldError, toBytes, toCount, toHash, toHex, toQuantity } from './answer.ts'
import { encodeRlp, integer } from './rlp.ts'

type Read = (fields: Fields, name: string) => Hex
type Field = readonly [name: string, read: Read]
/** What forks appended to the fields every header has. */
type Layout = readonly Field[]

export type HeaderProof = {
  /** Whether the fields were shown to give the hash. */
  readonly isOwnHash: boolean
  /** The last block below that it settled: receipts root and bloom are those of such blocks. Null where they are its own. */
  readonly settledHeight: number | null
}

const quantity: Read = (fields, name) => integer(toQuantity(fields, name))
const bytesOf =
  (count: number): Read =>
  (fields, name) =>
    toHex(fields, name, count)

const ALWAYS: Layout = [
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

/** London, Shanghai, Cancun (three), Prague, Glamsterdam (two). */
const ETHEREUM: Layout = [
  ['baseFeePerGas', quantity],
  ['withdrawalsRoot', toHash],
  ['blobGasUsed', quantity],
  ['excessBlobGas', quantity],
  ['parentBeaconBlockRoot', toHash],
  ['requestsHash', toHash],
  ['blockAccessListHash', toHash],
  ['slotNumber', quantity],
]

/** Always there; Apricot 3 and 4 (three); Etna (three); Granite (two); Helicon (six). */
const CORETH: Layout = [
  ['extDataHash', toHash],
  ['baseFeePerGas', quantity],
  ['extDataGasUsed', quantity],
  ['blockGasCost', quantity],
  ['blobGasUsed', quantity],
  ['excessBlobGas', quantity],
  ['parentBeaconBlockRoot', toHash],
  ['timestampMilliseconds', quantity],
  ['minDelayExcess', quantity],
  ['targetExponent', quantity],
  ['minPriceExponent', quantity],
  ['settledHeight', quantity],
  ['settledGasUnix', quantity],
  ['settledGasNumerator', quantity],
  ['settledExcess', quantity],
]

/** What nodes put beside the header: its own hash, the body, and what they derive (42161, 43114 and 56 have some of theirs). */
const BESIDE: readonly string[] = [
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
  'sealFields',
  'blockExtraData',
]

const knownIn = (layout: Layout): ReadonlySet<string> =>
  new Set([...[...ALWAYS, ...layout].map(([name]) => name), ...BESIDE])
const KNOWN: ReadonlyMap<Layout, ReadonlySet<string>> = new Map(
  [ETHEREUM, CORETH].map(layout => [layout, knownIn(layout)]),
)

const NOBODY: Hex = `0x${'00'.repeat(20)}`

/**
 * Throws a FieldError where all fields are known and the hash is another's. With a field that is not known, as after a
 * fork or on another kind of chain, nothing is proven and nobody is at fault.
 */
export function proveHeader(fields: Fields, hash: Hex, rules: Pick<ProofRules, 'header'>): HeaderProof {
  const layout = isGiven(fields, 'extDataHash') ? CORETH : ETHEREUM
  return {
    isOwnHash: rules.header === 'standard' && isOwnHash(fields, hash, layout),
    settledHeight:
      layout === CORETH && isGiven(fields, 'settledHeight') ? toCount(fields, 'settledHeight') : null,
  }
}

function isOwnHash(fields: Fields, hash: Hex, layout: Layout): boolean {
  try {
    const own = hashOf(fields, layout)
    // Bor seals a header without a miner, and some of its nodes show the author there.
    if (own === hash || hashOf({ ...fields, miner: NOBODY }, layout) === hash) return true
    throw new FieldError(`its fields give the hash ${own}, it carries ${hash}`)
  } catch (error) {
    if (error instanceof FieldError && Object.keys(fields).some(name => !KNOWN.get(layout)?.has(name)))
      return false
    throw error
  }
}

function hashOf(fields: Fields, layout: Layout): Hex {
  const since = layout.slice(0, layout.findLastIndex(([name]) => isGiven(fields, name)) + 1)
  const list = [
    ...ALWAYS.map(([name, read]) => read(fields, name)),
    // A fork that a chain skipped leaves an empty item before those of the next.
    ...since.map(([name, read]): Hex => (isGiven(fields, name) ? read(fields, name) : '0x')),
  ]
  return `0x${keccak256(encodeRlp(list)).toString('hex')}`
}

const isGiven = (fields: Fields, name: string): boolean => fields[name] !== undefined && fields[name] !== null
