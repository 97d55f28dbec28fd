import { beforeAll, describe, expect, it } from 'vitest'
import type { ProofRules } from '../../config/config.ts'
import type { Hex } from '../../ops/hex.ts'
import { toFields } from '../answers/answer.ts'
import { type HeaderProof, proveHeader } from './headerHash.ts'
import { type CommittingHeader, isRootOwn, ownLogs, proveReceipts } from './receiptsProof.ts'
import { makeOddBlocks, type OddBlock, type Wire } from '../testing/oddBlocks.ts'

let odd: readonly OddBlock[]
beforeAll(async () => {
  odd = await makeOddBlocks()
})

const oneOf = (name: string): OddBlock => {
  const found = odd.find(each => each.name === name)
  expect(found, name).toBeDefined()
  return found as OddBlock
}

const headerOf = (block: Wire, rules: ProofRules): CommittingHeader => ({
  number: Number(block['number']),
  hash: block['hash'] as Hex,
  receiptsRoot: block['receiptsRoot'] as Hex,
  transactions: block['transactions'] as readonly Hex[] | null,
  ...proveHeader(toFields(block), block['hash'] as Hex, rules),
})

const prove = ({ block, receipts, rules }: Pick<OddBlock, 'block' | 'receipts' | 'rules'>) =>
  proveReceipts(headerOf(block, rules), receipts, rules)

const logsOf = (receipt: Wire | undefined): readonly Wire[] => (receipt?.['logs'] ?? []) as readonly Wire[]

/** With another digit at the end. */
const changed = (hex: unknown): string => {
  const text = hex as string
  return `${text.slice(0, -1)}${text.endsWith('1') ? '2' : '1'}`
}

describe('a block with an oddity of a real chain', () => {
  it('is proven, or passes unproven, with the logs that count', () => {
    expect(
      odd.map(each => ({ name: each.name, proof: prove(each).proof, logs: prove(each).logs.length })),
    ).toEqual(odd.map(({ name, proof, logs }) => ({ name, proof, logs })))
  })

  it('does not count transactions when they were not requested; its root still does', () => {
    for (const each of odd.filter(({ proof }) => proof === 'receipts')) {
      const block = { ...each.block, transactions: null }
      expect(prove({ ...each, block }), each.name).toMatchObject({ proof: 'receipts' })
      const own = each.receipts.filter((_, at) => at !== 0)
      expect(() => prove({ ...each, block, receipts: own }), each.name).toThrow(/receipt 0|block/)
    }
  })

  it('is refused when any field that its hash covers differs', () => {
    const beside = new Set(['hash', 'size', 'uncles', 'transactions'])
    for (const { name, block, rules } of odd.filter(({ proof }) => proof === 'receipts'))
      for (const field of Object.keys(block).filter(key => !beside.has(key))) {
        const lie = { ...block, [field]: changed(block[field]) }
        const isHarmless = field === 'miner' && (name.includes('state sync') || name.includes('author'))
        if (isHarmless) expect(headerOf(lie, rules).isOwnHash, `${name}: ${field}`).toBe(true)
        else expect(() => headerOf(lie, rules), `${name}: ${field}`).toThrow(/its fields give the hash/)
      }
  })
})

describe('proveHeader', () => {
  const hashOf = (block: Wire): Hex => block['hash'] as Hex
  const proofOf = (block: Wire): HeaderProof => proveHeader(block, hashOf(block), { header: 'standard' })

  it('takes an unknown field for another kind of chain, but not a missing field', () => {
    const { block } = oneOf('legacy and typed receipts')
    const { mixHash: _, ...without } = block
    expect(() => proofOf(without)).toThrow('mixHash is not hex')
    expect(proofOf({ ...without, stakeRoot: '0x1' }).isOwnHash).toBe(false)
    expect(proofOf({ ...block, stakeRoot: '0x1' }).isOwnHash).toBe(true)
  })

  it('recognises a settling header by the fields its hash covers alone', () => {
    const { block } = oneOf('legacy and typed receipts')
    expect(proofOf({ ...block, settledHeight: '0x1' })).toEqual({ isOwnHash: true, settledHeight: null })
    expect(proofOf(oneOf('a settling header').block)).toEqual({
      isOwnHash: true,
      settledHeight: 69_999_998,
    })
  })

  it('proves nothing when the configuration calls headers opaque', () => {
    const { block } = oneOf('legacy and typed receipts')
    expect(proveHeader(block, hashOf(block), { header: 'opaque' }).isOwnHash).toBe(false)
  })
})

describe('proveReceipts', () => {
  it('does not accept an empty list by the root of a settling header', () => {
    const { block, rules } = oneOf('a settling header')
    expect(prove({ block: { ...block, transactions: [] }, receipts: [], rules })).toMatchObject({
      proof: 'none',
    })
  })

  it('proves nothing when the configuration says that roots are of something else', () => {
    const { block, receipts } = oneOf('legacy and typed receipts')
    const rules = { header: 'standard', receipts: 'none' } as const
    expect(prove({ block, receipts, rules }).proof).toBe('none')
  })

  it('refuses a deposit that lost its two fields on a chain not said to be OP stack', () => {
    const { block, receipts } = oneOf('a deposit that lost its two fields')
    const rules = { header: 'standard', receipts: 'standard' } as const
    expect(() => prove({ block, receipts, rules })).toThrow(/root/)
  })

  it('drops logs of a state sync, also when forged', () => {
    const sync = oneOf('a state sync outside the root')
    const indices = prove(sync).logs.map(({ logIndex }) => logIndex)
    expect(indices).toEqual([0, 1, 2])
    const made = sync.receipts.map((receipt, at) =>
      at < 2 ? receipt : { ...receipt, logs: logsOf(receipt).map(log => ({ ...log, data: '0x01' })) },
    )
    expect(prove({ ...sync, receipts: made }).logs).toEqual(prove(sync).logs)
  })

  it('refuses the receipt of a state sync under another hash, and one that is not last', () => {
    const sync = oneOf('a state sync outside the root')
    const [first, second, last] = sync.receipts as [Wire, Wire, Wire]
    const renamed = { ...last, transactionHash: changed(last['transactionHash']) }
    expect(() => prove({ ...sync, receipts: [first, second, renamed] })).toThrow(/another transaction/)
    expect(() => prove({ ...sync, receipts: [last, first, second] })).toThrow(/another transaction/)
  })

  it('points to the configuration when the header is not proven either', () => {
    const { block, receipts, rules } = oneOf('a header of another kind')
    const lie = { ...block, receiptsRoot: changed(block['receiptsRoot']) }
    expect(() => prove({ block: lie, receipts, rules })).toThrow(/assay doctor/)
  })
})

describe('ownLogs', () => {
  it('drops logs of a state sync, whether or not it is among the transactions', () => {
    for (const name of ['a state sync outside the root', 'a state sync that is not among the transactions']) {
      const { block, receipts, rules } = oneOf(name)
      expect(ownLogs(headerOf(block, rules), receipts.flatMap(logsOf))).toHaveLength(3)
    }
  })
})

describe('isRootOwn', () => {
  it('is false for a settling header and when the configuration says so', () => {
    const own = { settledHeight: null }
    expect(isRootOwn(own, { receipts: 'standard' })).toBe(true)
    expect(isRootOwn(own, { receipts: 'op_stack' })).toBe(true)
    expect(isRootOwn(own, { receipts: 'none' })).toBe(false)
    expect(isRootOwn({ settledHeight: 7 }, { receipts: 'standard' })).toBe(false)
  })
})
