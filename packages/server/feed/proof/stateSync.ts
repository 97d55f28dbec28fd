/**
 * The state-sync transaction, which 137 adds to a block for messages from its parent chain. Before Madhugiri (block
 * 80,084,800) no root and no bloom covers it, yet nodes list it last, with a receipt of type 0, and some list it twice.
 *
 * Nothing proves its logs, so they are dropped. It is recognised by its hash, which no other transaction can have.
 */
import type { Hex } from '../../ops/hex.ts'
import { keccak256 } from '../../ops/keccak.ts'

const PREFIX = Buffer.from('matic-bor-receipt-')
const NUMBER_BYTES = 8

export function stateSyncHash({ number, hash }: { readonly number: number; readonly hash: Hex }): Hex {
  const height = Buffer.alloc(NUMBER_BYTES)
  height.writeBigUInt64BE(BigInt(number))
  const text = Buffer.concat([PREFIX, height, Buffer.from(hash.slice(2), 'hex')])
  return `0x${keccak256(text).toString('hex')}`
}
