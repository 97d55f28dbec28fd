/** How a block is encoded before it is hashed, from viem and `@ethereumjs/mpt`: no code under test takes part. */
import { createMPT } from '@ethereumjs/mpt'
import { numberToHex, toRlp, trim } from 'viem'
import type { Hex } from '../../ops/hex.ts'

/** The fields that every header begins with. */
export const FIRST_FIELDS = [
  'parentHash',
  'sha3Uncles',
  'miner',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'nonce',
] as const
const INTEGERS = new Set(['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp'])

/** As RLP writes an integer. */
export const rlpInteger = (quantity: Hex): Hex => {
  const digits = trim(quantity.length % 2 === 0 ? quantity : `0x0${quantity.slice(2)}`)
  return digits === '0x00' ? '0x' : digits
}

/** Hashes, addresses and bytes as they are; everything else is an integer. */
export function headerItem(name: string, value: Hex | undefined): Hex {
  if (value === undefined) return '0x'
  const isFixed = value.length >= 42 || name === 'extraData' || name === 'nonce'
  return isFixed && !INTEGERS.has(name) ? value : rlpInteger(value)
}

/** The root of an ordered trie, as of the receipts of a block. */
export async function rootOf(values: readonly Hex[]): Promise<Hex> {
  const trie = await createMPT()
  for (const [index, value] of values.entries())
    await trie.put(
      toRlp(index === 0 ? '0x' : rlpInteger(numberToHex(index)), 'bytes'),
      Buffer.from(value.slice(2), 'hex'),
    )
  return `0x${Buffer.from(trie.root()).toString('hex')}`
}
