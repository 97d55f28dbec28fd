/**
 * The hash of a header, recomputed from its own fields: keccak256 of their RLP, in the order of the yellow paper (4.4) and
 * later forks, or in the order of coreth, the client of 43114. A header whose fields give its hash cannot be forged, and
 * neither can the roots in it. The fields decide which order applies, not the chain id.
 */
import type { ProofRules } from '../../config/config.ts'
import type { Hex } from '../../ops/hex.ts'
import { keccak256 } from '../../ops/keccak.ts'
import { type Fields, FieldError, toBytes, toCount, toHash, toHex, toQuantity } from '../answers/answer.ts'
import { encodeRlp, integer } from './rlp.ts'

type Read = (fields: Fields, name: string) => Hex
type Field = readonly [name: string, read: Read]
/** The fields that forks appended to the common ones. */
type Layout = readonly Field[]

export type HeaderProof = {
  /** Whether the fields were proven to give the hash. */
  readonly isOwnHash: boolean
  /** The last ancestor it settles: its receipts root and bloom cover settled ancestors. Null when they cover its own block. */
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

/** Every block; Apricot 3 and 4 (three); Etna (three); Granite (two); Helicon (six). */
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

/** Fields in the JSON of a block that are not part of the header: its hash, the body, and values that nodes derive. */
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
 * Throws a FieldError when all fields are known and do not give the hash. An unknown field means a newer fork or another kind
 * of chain: the header is then unproven, and the endpoint is not at fault.
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
    // Bor hashes a zero miner, and some of its nodes show the author in this field.
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
    // A chain that skipped a fork encodes its fields as empty items.
    ...since.map(([name, read]): Hex => (isGiven(fields, name) ? read(fields, name) : '0x')),
  ]
  return `0x${keccak256(encodeRlp(list)).toString('hex')}`
}

const isGiven = (fields: Fields, name: string): boolean => fields[name] !== undefined && fields[name] !== null
