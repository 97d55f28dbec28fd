/**
 * Hand-made blocks with the oddities of real chains. Roots, encodings and hashes are those of rlpBlock.ts and viem, and the
 * field order of every header is written out again: no code under test takes part.
 */
import { concat, keccak256, numberToHex, stringToHex, toRlp } from 'viem'
import type { ProofRules } from '../../config/config.ts'
import type { Hex } from '../../ops/hex.ts'
import { FIRST_FIELDS, headerItem, rlpInteger, rootOf } from './rlpBlock.ts'

export type Wire = Readonly<Record<string, unknown>>

export type OddBlock = {
  readonly name: string
  readonly chainId: number
  readonly rules: ProofRules
  readonly block: Wire
  readonly receipts: readonly Wire[]
  readonly proof: 'receipts' | 'none'
  /** Number of logs that must be kept. */
  readonly logs: number
}

type Made = {
  readonly type: number | null
  readonly logs: number
  /** Items after the logs in the encoding, and how nodes show them. */
  readonly tail?: readonly Hex[]
  readonly shown?: Wire
}

const BLOOM: Hex = `0x${'00'.repeat(256)}`
const STANDARD: ProofRules = { header: 'standard', receipts: 'standard' }
const EMPTY_ROOT: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const NUMBER = 70_000_000
const AUTHOR: Hex = `0x${'a1'.repeat(20)}`
const NOBODY: Hex = `0x${'00'.repeat(20)}`

const word = (text: string): Hex => keccak256(stringToHex(text))
const count = (value: number): Hex => numberToHex(value)
/** London to Glamsterdam, as a header of 2026 has them. */
const LONDON: Wire = { baseFeePerGas: '0x7' }
const CANYON: Wire = { ...LONDON, withdrawalsRoot: word('storage root') }
const PRAGUE: Wire = {
  ...CANYON,
  blobGasUsed: '0x0',
  excessBlobGas: '0x20000',
  parentBeaconBlockRoot: word('beacon'),
  requestsHash: word('requests'),
}
const GLAMSTERDAM: Wire = {
  ...PRAGUE,
  blockAccessListHash: word('access list'),
  slotNumber: '0xb4d1c3',
}
const GRANITE: Wire = {
  extDataHash: word('ext data'),
  baseFeePerGas: '0x42d634c',
  extDataGasUsed: '0x2bde',
  blockGasCost: '0x0',
  blobGasUsed: '0x0',
  excessBlobGas: '0x0',
  parentBeaconBlockRoot: `0x${'00'.repeat(32)}`,
  timestampMilliseconds: '0x1a09173eda1',
  minDelayExcess: '0x6e6965',
}
const HELICON: Wire = {
  ...GRANITE,
  targetExponent: '0xf0a451',
  minPriceExponent: '0xd49a784bcd1b8b0',
  settledHeight: count(NUMBER - 2),
  settledGasUnix: '0x6a971370',
  settledGasNumerator: '0x83720',
  settledExcess: '0x131b81f7',
}

const LEGACY: Made = { type: 0, logs: 1 }
const DYNAMIC: Made = { type: 2, logs: 2 }
/** Regolith: nodes show the nonce, but the root does not cover it. */
const REGOLITH: Made = { type: 0x7e, logs: 0, shown: { depositNonce: '0x1e847f' } }
const DEPOSIT: Made = {
  type: 0x7e,
  logs: 1,
  tail: ['0x02efaea6', '0x01'],
  shown: { depositNonce: '0x2efaea6', depositReceiptVersion: '0x1' },
}

export async function makeOddBlocks(): Promise<readonly OddBlock[]> {
  const { tail: _, shown: __, ...plainDeposit } = DEPOSIT
  const madhugiri: Made = { type: 0x7f, logs: 2 }
  const stateSync = async (copies: number, isListed: boolean) => {
    const { block, receipts } = await make([DYNAMIC, LEGACY], LONDON, { miner: NOBODY })
    const hash = keccak256(
      concat([stringToHex('matic-bor-receipt-'), numberToHex(NUMBER, { size: 8 }), block['hash'] as Hex]),
    )
    const sync = receiptOf({ type: 0, logs: 2 }, 2, 3, { number: NUMBER, hash: block['hash'] as Hex }, hash)
    const transactions = [...(block['transactions'] as Hex[]), ...(isListed ? [hash] : [])]
    return {
      block: { ...block, transactions },
      receipts: [...receipts, ...Array.from({ length: copies }, () => sync)],
    }
  }
  const withAuthor = async () => {
    const { block, receipts } = await make([DYNAMIC], LONDON, { miner: NOBODY })
    return { block: { ...block, miner: AUTHOR }, receipts }
  }
  const inside = () => make([DYNAMIC, madhugiri], LONDON, { miner: NOBODY })
  const repeated = async () => {
    const { block, receipts } = await inside()
    return { block, receipts: [...receipts, receipts.at(-1) as Wire] }
  }
  const settled = async () => {
    const { block, receipts } = await make([LEGACY], HELICON, { root: EMPTY_ROOT })
    return { block, receipts }
  }
  const stripped = async () => {
    const { block, receipts } = await make([DEPOSIT, DYNAMIC], CANYON)
    const [{ depositNonce: _nonce, depositReceiptVersion: _version, ...deposit }, ...rest] = receipts as [
      Wire,
    ]
    return { block, receipts: [deposit, ...rest] }
  }
  const untyped = async () => {
    const { block, receipts } = await make([DYNAMIC], LONDON)
    return { block, receipts: receipts.map(receipt => ({ ...receipt, type: null })) }
  }
  const otherKind = async () => {
    const { block, receipts } = await make([LEGACY], LONDON)
    const { mixHash: _mix, nonce: _nonce, sha3Uncles: _uncles, ...rest } = block
    return { block: { ...rest, stakeRoot: word('of its own') }, receipts }
  }
  const OP: ProofRules = { header: 'standard', receipts: 'op_stack' }
  const makers: readonly [string, number, ProofRules, () => Promise<Block>, OddBlock['proof'], number][] = [
    ['legacy and typed receipts', 1, STANDARD, () => make([LEGACY, DYNAMIC], PRAGUE), 'receipts', 3],
    ['a Glamsterdam header', 1, STANDARD, () => make([DYNAMIC], GLAMSTERDAM), 'receipts', 2],
    [
      'a header that skipped Shanghai',
      7,
      STANDARD,
      () => make([DYNAMIC], { ...LONDON, blobGasUsed: '0x0' }),
      'receipts',
      2,
    ],
    ['a receipt without a type', 1, STANDARD, () => make([{ type: null, logs: 1 }], {}), 'receipts', 1],
    ['a typed receipt without its type', 1, STANDARD, untyped, 'none', 2],
    ['a coreth header', 43_114, STANDARD, () => make([LEGACY, DYNAMIC], GRANITE), 'receipts', 3],
    [
      'a first coreth header',
      43_114,
      STANDARD,
      () => make([LEGACY], { extDataHash: word('none') }),
      'receipts',
      1,
    ],
    ['a settling header', 43_114, STANDARD, settled, 'none', 1],
    [
      'a deposit of four fields',
      8453,
      OP,
      () => make([{ ...plainDeposit, logs: 1 }, DYNAMIC], LONDON),
      'receipts',
      3,
    ],
    ['a deposit whose nonce is shown only', 8453, OP, () => make([REGOLITH, LEGACY], LONDON), 'receipts', 1],
    ['a deposit of six fields', 8453, OP, () => make([DEPOSIT, DYNAMIC], PRAGUE), 'receipts', 3],
    [
      'a deposit of six fields on a chain not configured as OP stack',
      8453,
      STANDARD,
      () => make([DEPOSIT], CANYON),
      'receipts',
      1,
    ],
    ['a deposit that lost its two fields', 8453, OP, stripped, 'none', 3],
    ['a state sync outside the root', 137, STANDARD, () => stateSync(1, true), 'receipts', 3],
    ['a state sync listed twice', 137, STANDARD, () => stateSync(2, true), 'receipts', 3],
    [
      'a state sync that is not among the transactions',
      137,
      STANDARD,
      () => stateSync(1, false),
      'receipts',
      3,
    ],
    ['a state sync without its receipt', 137, STANDARD, () => stateSync(0, true), 'receipts', 3],
    ['a state sync inside the root', 137, STANDARD, inside, 'receipts', 4],
    ['a state sync inside the root listed twice', 137, STANDARD, repeated, 'receipts', 4],
    ['the author in place of the miner', 137, STANDARD, withAuthor, 'receipts', 2],
    [
      'a classic receipt',
      42_161,
      STANDARD,
      () => make([{ type: 0x78, logs: 1 }], {}, { root: word('unknown encoding') }),
      'none',
      1,
    ],
    ['a header of another kind', 25, STANDARD, otherKind, 'none', 1],
  ]
  return Promise.all(
    makers.map(async ([name, chainId, rules, maker, proof, logs]) => ({
      name,
      chainId,
      rules,
      ...(await maker()),
      proof,
      logs,
    })),
  )
}

type Given = {
  readonly miner?: Hex
  readonly root?: Hex
  readonly number?: number
  readonly parentHash?: Hex
}
type Block = { readonly block: Wire; readonly receipts: readonly Wire[] }

async function make(made: readonly Made[], since: Wire, given: Given = {}): Promise<Block> {
  const { miner = AUTHOR, root, number = NUMBER, parentHash = word('parent') } = given
  const fields: Wire = {
    parentHash,
    sha3Uncles: word('uncles'),
    miner,
    stateRoot: word('state'),
    transactionsRoot: word('transactions'),
    receiptsRoot: root ?? (await rootOf(encodings(made, number))),
    logsBloom: BLOOM,
    difficulty: '0x0',
    number: count(number),
    gasLimit: '0x1c9c380',
    gasUsed: '0x5208',
    timestamp: '0x6aa43640',
    extraData: '0x617373',
    mixHash: word('mix'),
    nonce: '0x0000000000000000',
    ...since,
  }
  const names = [...FIRST_FIELDS, ...Object.keys(since)]
  // Shanghai's field is between those of London and Cancun; a chain without it encodes an empty item.
  const skips = 'blobGasUsed' in since && !('withdrawalsRoot' in since) && !('extDataHash' in since)
  if (skips) names.splice(names.indexOf('blobGasUsed'), 0, 'withdrawalsRoot')
  const hash = keccak256(toRlp(names.map(name => headerItem(name, fields[name] as Hex | undefined))))
  const transactions = made.map((_, index) => word(`transaction ${number}/${index}`))
  let logs = 0
  const receipts = made.map((each, index) => {
    const receipt = receiptOf(each, index, logs, { number, hash }, transactions[index] as Hex)
    logs += each.logs
    return receipt
  })
  return { block: { ...fields, hash, transactions, uncles: [], size: '0x3d8' }, receipts }
}

/**
 * Consecutive blocks that each settle the block two below, except that the third settles nothing new and the fourth settles
 * two. A root covers the receipts of all settled blocks, concatenated.
 */
export async function makeSettlingChain(length: number): Promise<readonly Block[]> {
  const settledBy = (number: number): number => number - (number === NUMBER + 2 ? 3 : 2)
  const madeIn = (number: number): readonly Made[] => (number % 3 === 0 ? [] : [LEGACY, DYNAMIC])
  const blocks: Block[] = []
  for (let number = NUMBER; number < NUMBER + length; number++) {
    const settled = Array.from(
      { length: settledBy(number) - settledBy(number - 1) },
      (_, at) => settledBy(number - 1) + 1 + at,
    )
    const root = await rootOf(settled.flatMap(each => encodings(madeIn(each), each)))
    const parentHash = (blocks.at(-1)?.block['hash'] as Hex | undefined) ?? word('parent')
    const since = { ...HELICON, settledHeight: count(settledBy(number)) }
    blocks.push(await make(madeIn(number), since, { root, number, parentHash }))
  }
  return blocks
}

function encodings(made: readonly Made[], number: number): readonly Hex[] {
  return made.map((each, index) => {
    const list = toRlp([
      '0x01',
      rlpInteger(gasOf(index)),
      BLOOM,
      Array.from({ length: each.logs }, (_, at) => [
        addressOf(number, index, at),
        [word(`topic ${at}`)],
        dataOf(at),
      ]),
      ...(each.tail ?? []),
    ])
    return (each.type ?? 0) === 0 ? list : concat([numberToHex(each.type ?? 0, { size: 1 }), list])
  })
}

const gasOf = (index: number): Hex => count(21_000 * (index + 1))
const addressOf = (number: number, index: number, at: number): Hex =>
  `0x${word(`address ${number}/${index}/${at}`).slice(26)}`
const dataOf = (at: number): Hex => `0x${'07'.repeat(32 * at)}`

function receiptOf(
  made: Made,
  index: number,
  firstLog: number,
  { number, hash: blockHash }: { readonly number: number; readonly hash: Hex },
  transactionHash: Hex,
): Wire {
  const place = { blockHash, blockNumber: count(number), transactionHash, transactionIndex: count(index) }
  return {
    ...place,
    ...(made.type === null ? { type: null } : { type: count(made.type) }),
    status: '0x1',
    cumulativeGasUsed: gasOf(index),
    gasUsed: '0x5208',
    logsBloom: BLOOM,
    logs: Array.from({ length: made.logs }, (_, at) => ({
      ...place,
      address: addressOf(number, index, at),
      topics: [word(`topic ${at}`)],
      data: dataOf(at),
      logIndex: count(firstLog + at),
      removed: false,
    })),
    ...made.shown,
  }
}
